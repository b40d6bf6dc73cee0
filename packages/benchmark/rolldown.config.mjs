/** The Widget operator as one file, the way an operator is brought into an image. client-node is left out, as nothing loads it for a token. */
export default {
  input: process.env.OPERATOR,
  platform: "node",
  external: ["@kubernetes/client-node"],
  resolve: { conditionNames: ["@fixpoint/source", "node", "import", "default"] },
  output: { file: "dist/widget.mjs", format: "esm", codeSplitting: false }
}
