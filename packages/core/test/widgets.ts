/** Objects of a made-up kind, as a server would store them. */
import type { KubeObject, ObjectMeta, Resource } from "../src/KubeObject.ts"

export const widgets: Resource = {
  group: "example.com",
  version: "v1",
  kind: "Widget",
  plural: "widgets",
  scope: "Namespaced"
}

export const widget = (
  name: string,
  version: number | string,
  { spec = {}, status, ...metadata }: Partial<ObjectMeta> & { spec?: object; status?: object } = {}
): KubeObject => ({
  apiVersion: "example.com/v1",
  kind: "Widget",
  metadata: {
    name,
    namespace: "ns1",
    uid: `uid-${name}`,
    resourceVersion: String(version),
    generation: 1,
    ...metadata
  },
  spec,
  ...(status !== undefined && { status })
})

/** `name@version` of each, in the order of names. */
export const shown = (objects: Iterable<KubeObject>): ReadonlyArray<string> =>
  [...objects].map(({ metadata }) => `${metadata.name}@${metadata.resourceVersion}`).sort()
