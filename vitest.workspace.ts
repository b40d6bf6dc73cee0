import { availableParallelism } from "node:os"
import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** What takes long begins first, or one of the workers waits at the end: most of it is short to read and long to run. */
const long = [
  "ApiClientContract.real",
  "Disturbance",
  "KubectlScript.real",
  "BadInputs",
  "Faults",
  "ManagerModel",
  "Hostile",
  "Kill",
  "RealCluster",
  "Differential",
  "EventHistoriesServer",
  "EventFloodServer",
  "EventFlood",
  "PersistedContractServer",
  "PersistedServer",
  "PersistedCrash",
  "Outage.real"
]

class LongestFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = long.findIndex((name) => moduleId.endsWith(`/${name}.test.ts`))
      return at < 0 ? long.length : at
    }
    return (await super.sort(files)).sort((a, b) => rank(a) - rank(b))
  }
}

const project = (name: string, root: string) => ({
  test: {
    name,
    root,
    include: ["test/**/*.test.ts"],
    // A worker keeps what it has loaded for its next file: loading Effect anew for each took a tenth of the CPU of the suite.
    isolate: false,
    testTimeout: 60_000,
    hookTimeout: 60_000
  },
  ssr: { resolve: { conditions: ["@fixpoint/source", "node", "import", "default"] } }
})

const packages = ["core", "apiserver", "kubernetes", "testing", "examples", "benchmark"]

/** One project a package, and `house` for what holds the repository together: layering, docs, the packed packages. */
export default defineConfig({
  test: {
    // Many tests wait for a real server or process: one worker more than cores uses them, where the default leaves a core idle.
    maxWorkers: availableParallelism() + 1,
    sequence: { sequencer: LongestFirst },
    // One real control plane for all projects, started when the first test asks for it.
    globalSetup: ["packages/testing/src/SharedControlPlane.ts"],
    projects: [...packages.map((name) => project(name, `packages/${name}`)), project("house", ".")]
  }
})
