/** Scenes of changing: patches of each type, edits, labels and annotations, replacing, scaling. */
import { configMap, widget } from "./kubectlManifests.ts"
import type { Scene } from "./kubectlScene.ts"

export const changing: ReadonlyArray<Scene> = [
  {
    name: "patching",
    namespace: "patching",
    files: { "widget.yaml": widget("anna", "size: 3", "parts: [{name: wheel}]"), "patch.yaml": "spec:\n  size: 9\n" },
    steps: [
      "create namespace patching",
      "create -f widget.yaml",
      "create configmap config --from-literal=a=b",
      'patch widget anna --type=merge -p \'{"spec":{"size":4}}\'',
      'patch widget anna --type=merge -p \'{"spec":{"size":4}}\'',
      "patch widget anna --type=merge --patch-file=patch.yaml",
      'patch widget anna --type=merge -p \'{"spec":{"size":0}}\'',
      'patch widget anna --type=merge -p \'{"spec":{"parts":null}}\' -o yaml',
      'patch widget anna --type=json -p \'[{"op":"replace","path":"/spec/size","value":5}]\'',
      'patch widget anna --type=json -p \'[{"op":"test","path":"/spec/size","value":6},{"op":"remove","path":"/spec/color"}]\'',
      'patch widget anna --type=json -p \'[{"op":"remove","path":"/spec/nothing"}]\'',
      'patch widget anna --type=json -p \'[{"op":"add","path":"/spec/tags","value":["new"]},{"op":"add","path":"/spec/tags/-","value":"cheap"}]\' -o jsonpath=\'{.spec.tags}\'',
      'patch widget anna -p \'{"spec":{"size":5}}\'',
      "patch widget anna --type=merge -p '{\"spec\":'",
      'patch widget anna --subresource=status --type=merge -p \'{"status":{"phase":"Sold"},"spec":{"size":50}}\'',
      "get widget anna",
      'patch widget anna --type=merge -p \'{"status":{"phase":"Stolen"}}\'',
      'patch widget anna --subresource=scale --type=merge -p \'{"spec":{"replicas":4}}\' -o yaml',
      'patch widget anna --type=merge -p \'{"metadata":{"name":"other"}}\'',
      'patch widget anna --type=merge -p \'{"metadata":{"resourceVersion":"1"}}\'',
      "patch widget absent --type=merge -p '{}'",
      'patch configmap config -p \'{"data":{"a":null,"c":"d"}}\' -o yaml',
      'patch configmap config -p \'{"data":{"a":1}}\'',
      'patch configmap config --type=merge -p \'{"data":{"e":"f"}}\' --dry-run=server -o jsonpath=\'{.data}\'',
      'patch configmap config -p \'{"data":{"e":"f"}}\' --dry-run=client'
    ]
  },
  {
    name: "editing",
    namespace: "editing",
    files: { "widget.yaml": widget("anna", "size: 3", "color: red"), "config.yaml": configMap("config", "a: b") },
    steps: [
      "create namespace editing",
      "create -f widget.yaml -f config.yaml",
      { line: "edit widget anna", editor: "s/size: 3/size: 33/" },
      "get widget anna -o yaml",
      { line: "edit widget anna", editor: "s/nothing/something/" },
      { line: "edit widget anna", editor: "s/size: 33$/size: 333/" },
      { line: "edit widget anna --subresource=status", editor: "s/^spec:/status: {phase: Sold}\\nspec:/" },
      { line: "edit widget anna --subresource=status", editor: "s/phase: Sold/phase: Lent/" },
      "get widget anna",
      { line: "edit configmap/config", editor: "s/a: b/a: c/" },
      { line: "edit configmap config -o json", editor: 's/"c"/"d"/' },
      { line: "edit configmap config", editor: "s/name: config/name: other/" },
      "get configmap config -o jsonpath='{.data}'",
      { line: "edit widget absent", editor: "s/a/b/" },
      { line: "create -f widget.yaml --edit", editor: "s/anna/berta/" }
    ]
  },
  {
    name: "labelling",
    namespace: "labelling",
    files: { "widget.yaml": widget("anna", "size: 3") },
    steps: [
      "create namespace labelling",
      "create -f widget.yaml",
      "label widget anna tier=front",
      "label widget anna tier=front",
      "label widget anna tier=back",
      "label widget anna tier=back --overwrite",
      "label widget anna tier=other --overwrite --resource-version=1",
      "label widget anna --list",
      "label widgets --all shop=yes",
      "label widget anna tier-",
      "label widget anna tier-",
      "label widget anna 'bad=a value'",
      "label widget absent a=b",
      "annotate widget anna note='a word'",
      "annotate widget anna note='another word'",
      "annotate widget anna note='another word' --overwrite -o yaml",
      "annotate widget anna --list",
      "annotate widget anna note-",
      "label namespace labelling shop=yes --dry-run=server",
      "label -f widget.yaml from=file --field-manager=me"
    ]
  },
  {
    name: "replacing",
    namespace: "replacing",
    files: {
      "widget.yaml": widget("anna", "size: 3"),
      "larger.yaml": widget("anna", "size: 30"),
      "stale.yaml": widget("anna", "size: 31").replace("  name", "  resourceVersion: '1'\n  name"),
      "foreign.yaml": widget("anna", "size: 31").replace(
        "  name",
        "  uid: 7f1c1b1e-0000-4000-8000-000000000000\n  name"
      ),
      "absent.yaml": widget("absent", "size: 3"),
      "nameless.yaml": "apiVersion: shop.example.com/v1\nkind: Widget\nspec: {size: 3}\n"
    },
    steps: [
      "create namespace replacing",
      "create -f widget.yaml",
      "replace -f larger.yaml",
      "get widget anna",
      "replace -f stale.yaml",
      "replace -f foreign.yaml",
      "replace -f absent.yaml",
      "replace -f nameless.yaml",
      "replace -f larger.yaml --dry-run=server",
      "replace --force -f widget.yaml",
      "replace --subresource=status -f larger.yaml",
      "get widget anna -o jsonpath='{.spec.size} {.metadata.generation}'"
    ]
  },
  {
    name: "scaling",
    namespace: "scaling",
    files: { "widget.yaml": widget("anna", "size: 3") },
    steps: [
      "create namespace scaling",
      "create -f widget.yaml",
      "create deployment web --image=nginx",
      "scale widget anna --replicas=3",
      "scale widget/anna --replicas=5 --current-replicas=4",
      "scale widget/anna --replicas=5 --current-replicas=3",
      "scale widget anna --replicas=-1",
      "get widget anna -o jsonpath='{.spec.replicas}'",
      "scale deployment web --replicas=3",
      "scale deployment/web widget/anna --replicas=2",
      "get deployment web --subresource=scale -o yaml",
      "scale deployment absent --replicas=2",
      "scale configmap nothing --replicas=2",
      "autoscale widget anna --min=1 --max=5",
      "autoscale deployment web --min=1 --max=5 --cpu=80%",
      "get hpa",
      "get hpa web -o yaml --show-managed-fields"
    ]
  }
]
