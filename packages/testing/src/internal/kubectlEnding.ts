/** Scenes of waiting and deleting: conditions, time-outs, finalizers, cascades, namespaces, definitions. */
import { configMap, documents, widget } from "./kubectlManifests.ts"
import type { Scene } from "./kubectlScene.ts"

const ready = '{"status":{"phase":"Sold","conditions":[{"type":"Ready","status":"True"}]}}'

const finalized = (name: string): string =>
  widget(name, "size: 3").replace("  name", "  finalizers: [shop.example.com/lock]\n  name")

export const ending: ReadonlyArray<Scene> = [
  {
    name: "waiting",
    namespace: "waiting",
    files: { "widgets.yaml": documents(widget("anna", "size: 3"), widget("bert", "size: 4")) },
    steps: [
      "create namespace waiting",
      "create -f widgets.yaml",
      { line: "wait widget/anna --for=condition=Ready --timeout=1s", timesOut: true },
      { line: "wait widget/anna --for=jsonpath='{.status.phase}'=Sold --timeout=1s", timesOut: true },
      `patch widget anna --subresource=status --type=merge -p '${ready}'`,
      "wait widget/anna --for=condition=Ready --timeout=10s",
      { line: "wait widget/anna --for=condition=Ready=false --timeout=1s", timesOut: true },
      "wait widget/anna --for=jsonpath='{.status.phase}'=Sold --timeout=10s",
      "wait widgets --all --for=jsonpath='{.spec.size}' --timeout=10s",
      "wait widget/absent --for=condition=Ready --timeout=1s",
      "wait widget/absent --for=delete --timeout=1s",
      { line: "wait widget/anna --for=delete --timeout=1s", timesOut: true },
      "wait widget/anna --for=create --timeout=1s",
      "wait widget -l no=body --for=condition=Ready --timeout=1s",
      "delete widget anna bert",
      "wait widget/anna --for=delete --timeout=10s"
    ]
  },
  {
    name: "deleting",
    namespace: "deleting",
    files: {
      "locked.yaml": finalized("locked"),
      "widgets.yaml": documents(
        ...["a", "b", "c", "d", "e"].map((name) =>
          widget(name, "size: 3").replace("  name", `  labels: {half: '${name < "c" ? 1 : 2}'}\n  name`)
        )
      ),
      "config.yaml": configMap("config", "a: b")
    },
    steps: [
      "create namespace deleting",
      "create -f widgets.yaml -f config.yaml -f locked.yaml",
      "delete widget a --dry-run=server",
      "delete widget a",
      "delete widget a",
      "delete widget a --ignore-not-found",
      "delete widget/b configmap/config",
      "delete widgets -l half=2 --now",
      "get widgets",
      "delete widget locked --wait=false",
      "get widget locked -o jsonpath='{.metadata.finalizers}{.metadata.deletionGracePeriodSeconds}'",
      "get widget locked -o yaml",
      { line: "delete widget locked --timeout=1s", timesOut: true },
      'patch widget locked --type=merge -p \'{"metadata":{"finalizers":["a.example.com/b"]}}\'',
      'patch widget locked --type=merge -p \'{"metadata":{"finalizers":null}}\'',
      "get widget locked",
      "create -f widgets.yaml -o name",
      "delete -f widgets.yaml --cascade=orphan",
      "create -f widgets.yaml",
      "delete widgets --all --cascade=foreground",
      "delete widgets --all",
      "delete nothing",
      "delete widgets"
    ]
  }
]

/** Takes away what `installing` made. */
export const closing: Scene = {
  name: "closing",
  namespace: "closing",
  files: {
    "widget.yaml": widget("anna", "size: 3"),
    "depot.yaml":
      "apiVersion: shop.example.com/v1\nkind: Depot\nmetadata: {name: north}\nspec: {city: Kiel, any: [thing]}\n"
  },
  steps: [
    "create namespace closing",
    "create -f widget.yaml -f depot.yaml",
    "get depots -o wide",
    "get shop -A -o name",
    "delete namespace closing --wait=false",
    "get namespace closing",
    "create configmap late --from-literal=a=b",
    { line: "wait --for=delete namespace/closing --timeout=60s", timesOut: true },
    "get namespace closing",
    "get widgets",
    "delete namespace default --wait=false",
    "delete crd depots.shop.example.com",
    "get depots",
    "delete crd widgets.shop.example.com",
    "get widgets -A"
  ]
}
