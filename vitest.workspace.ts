import { defineConfig } from "vitest/config"

const project = (name: string) => ({
  test: {
    name,
    root: `packages/${name}`,
    include: ["test/**/*.test.ts"],
    testTimeout: 60_000,
    hookTimeout: 60_000
  },
  ssr: { resolve: { conditions: ["@fixpoint/source", "node", "import", "default"] } }
})

export default defineConfig({
  test: {
    projects: ["core", "apiserver", "kubernetes", "testing", "examples"].map(project)
  }
})
