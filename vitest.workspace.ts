import { defineConfig } from "vitest/config"

const project = (name: string, root: string) => ({
  test: {
    name,
    root,
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000
  },
  ssr: { resolve: { conditions: ["@fixpoint/source", "node", "import", "default"] } }
})

const packages = ["core", "apiserver", "kubernetes", "testing", "examples", "benchmark"]

/** One project a package, and `house` for what holds the repository together: layering, docs, the packed packages. */
export default defineConfig({
  test: {
    // The default leaves a core idle, which on two cores is half of the machine.
    maxWorkers: "100%",
    // One real control plane for all projects, started when the first test asks for it.
    globalSetup: ["packages/testing/src/SharedControlPlane.ts"],
    projects: [...packages.map((name) => project(name, `packages/${name}`)), project("house", ".")]
  }
})
