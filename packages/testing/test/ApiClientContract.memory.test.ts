import * as ApiServer from "@fixpoint/apiserver/ApiServer"
import * as ApiClientContract from "@fixpoint/testing/ApiClientContract"
import { afterAll, beforeAll, describe, test } from "vitest"

// The cases share one server, as they do on a real one: they must not disturb each other.
ApiClientContract.suite("the API server in memory", ApiServer.layer(), {
  describe: describe.concurrent,
  test,
  beforeAll,
  afterAll
})
