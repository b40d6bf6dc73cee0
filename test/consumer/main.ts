/** What a user's project does with the packed packages: it compiles without skipLibCheck, runs, and prints one line. */
import * as ApiClient from "@fixpoint/core/ApiClient"
import * as ApiError from "@fixpoint/core/ApiError"
import * as ApiServer from "@fixpoint/apiserver"
import * as Core from "@fixpoint/core"
import * as Kubernetes from "@fixpoint/kubernetes"
import * as Testing from "@fixpoint/testing"

const packages = [Core, ApiServer, Kubernetes, Testing].map((names) => Object.keys(names).length)

if (Core.ApiClient !== ApiClient && Core.ApiClient.ApiClient !== ApiClient.ApiClient) {
  throw new Error("the barrel and the sub-path give two ApiClients")
}

console.log(`${ApiClient.ApiClient.key} ${typeof ApiError.fromAnswer} ${packages.length}`)
