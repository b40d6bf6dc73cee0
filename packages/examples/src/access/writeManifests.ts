/** `npm run manifests`: writes the manifests of the example, and removes those of kinds that are no more. */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { files } from "./manifests.ts"

const root = fileURLToPath(new URL("../../manifests/access/", import.meta.url))
const made = files()
const folders = new Set(made.map(({ path }) => dirname(path)))

for (const folder of folders) {
  mkdirSync(join(root, folder), { recursive: true })
  for (const name of readdirSync(join(root, folder)))
    if (!made.some(({ path }) => path === `${folder}/${name}`)) rmSync(join(root, folder, name))
}
for (const { path, text } of made) writeFileSync(join(root, path), text)
console.log(`wrote ${made.length} files below packages/examples/manifests/access`)
