/** Scenes of reading: every output, selectors, what is absent, descriptions, events, watches. */
import { configMap, documents, event, widget } from "./kubectlManifests.ts"
import type { Scene } from "./kubectlScene.ts"

const labelled = (text: string, labels: string): string =>
  text.replace("metadata:\n", `metadata:\n  labels: ${labels}\n`)

const widgets = documents(
  labelled(
    widget("anna", "size: 3", "color: red", "parts: [{name: wheel, count: 4}, {name: axle}]"),
    "{tier: front, app: shop}"
  ),
  labelled(widget("bert", "size: 20", "owner: bert"), "{tier: back, app: shop}"),
  widget("carl", "size: 100", "color: green", "tags: [new, cheap]", "width: 50%")
)

const status = `{"status":{"phase":"Sold","replicas":1,"conditions":[{"type":"Ready","status":"True","reason":"Made","message":"all is well","lastTransitionTime":"2026-01-01T00:00:00Z"}]}}`

const template = "{{range .items}}{{.metadata.name}}={{.spec.size}} {{end}}"

/** Looks at all namespaces, so nothing may run beside it. */
export const reading: Scene = {
  name: "reading",
  namespace: "reading",
  files: {
    "widgets.yaml": widgets,
    "config.yaml": configMap("config", "color: blue", "text: |\n    two\n    lines"),
    "events.yaml": documents(
      event("bought", { kind: "Widget", name: "anna" }, "Normal"),
      event("broken", { kind: "Widget", name: "anna" }, "Warning"),
      event("shown", { kind: "ConfigMap", name: "config" }, "Normal")
    )
  },
  steps: [
    "create namespace reading",
    "create -f widgets.yaml -f config.yaml",
    "create -f events.yaml",
    `patch widget anna --subresource=status --type=merge -p '${status}'`,
    "get widgets",
    "get wd -o wide",
    "get widget anna bert",
    "get widget/carl configmap/config",
    "get widgets -o name",
    "get widgets --no-headers",
    "get widgets --show-labels",
    "get widgets -L tier,app",
    "get widgets --show-kind",
    "get widget anna -o yaml",
    "get widget anna -o json",
    "get widget anna -o yaml --show-managed-fields",
    "get widgets -o json",
    "get widgets -o jsonpath='{.items[*].metadata.name}'",
    'get widgets -o jsonpath=\'{range .items[?(@.spec.size>10)]}{.metadata.name}{"\\t"}{.spec.color}{"\\n"}{end}\'',
    "get widgets -o custom-columns=NAME:.metadata.name,SIZE:.spec.size,PARTS:.spec.parts[*].name",
    `get widgets -o go-template='${template}'`,
    "get widget anna -o jsonpath='{.spec.nothing}'",
    "get widgets --sort-by=.spec.size",
    "get widgets --sort-by=.spec.color --no-headers",
    "get widgets -l app=shop,tier!=back",
    "get widgets -l 'tier in (front,back)'",
    "get widgets -l '!app'",
    "get widgets -l nobody=here",
    "get widgets -l 'a b'",
    "get widgets --field-selector metadata.name=bert",
    "get widgets --field-selector spec.color=blue",
    "get widgets --field-selector spec.size=3",
    "get widgets -A -l app=shop",
    "get widgets,configmaps -l '!kubernetes.io/nothing'",
    "get all",
    "get shop",
    "get shop -A -o name",
    "get widgets --chunk-size=1",
    "get widget anna --subresource=status",
    "get widget anna --subresource=status -o jsonpath='{.status.phase}'",
    "get widget anna --subresource=scale -o yaml",
    "get widget anna --subresource=nothing",
    "get widgets.v1alpha1.shop.example.com",
    "get widget.v1alpha1.shop.example.com anna -o yaml",
    "get widgets.shop.example.com/anna -o name",
    "get -f widgets.yaml",
    "get widget absent",
    "get widget anna absent",
    "get widget absent --ignore-not-found",
    "get nothings",
    "get widgets -n nowhere",
    "get pods",
    "get pods -o yaml",
    "get configmaps",
    "get configmap config -o yaml",
    "get namespace reading",
    "get namespaces",
    "get namespaces -o wide --show-labels",
    "get events",
    "get events -o wide",
    "get events --field-selector type=Warning",
    "get events --field-selector involvedObject.kind=ConfigMap -o name",
    "get events.events.k8s.io",
    "events",
    "events --for widget/anna",
    "events --types=Warning",
    "events -A",
    "describe widget anna",
    "describe widgets -l app=shop",
    "describe widget absent",
    "describe configmap config",
    "describe namespace reading",
    "describe widget.v1alpha1.shop.example.com carl"
  ]
}

export const watching: Scene = {
  name: "watching",
  namespace: "watching",
  files: { "widgets.yaml": widgets },
  steps: [
    "create namespace watching",
    "create -f widgets.yaml",
    {
      line: "get widgets -w",
      meanwhile: [
        { lines: 4, line: 'patch widget bert --type=merge -p \'{"spec":{"size":21}}\'' },
        { lines: 5, line: "label widget carl app=shop" },
        { lines: 6, line: "delete widget carl" }
      ],
      lines: 7
    },
    {
      line: "get widgets -w -l app=shop --output-watch-events",
      meanwhile: [
        { lines: 3, line: "label widget bert app=other --overwrite" },
        { lines: 4, line: "label widget bert app=shop --overwrite" },
        { lines: 5, line: "delete widget anna" }
      ],
      lines: 6
    },
    {
      line: "get widgets -w -o jsonpath='{.metadata.name} {.spec.size}{\"\\n\"}'",
      meanwhile: [{ lines: 1, line: 'patch widget bert --type=merge -p \'{"spec":{"size":22}}\'' }],
      lines: 2
    },
    {
      line: "get configmaps -w",
      meanwhile: [
        { lines: 0, line: "create configmap seen --from-literal=a=b" },
        { lines: 2, line: "delete configmap seen" }
      ],
      lines: 3
    }
  ]
}
