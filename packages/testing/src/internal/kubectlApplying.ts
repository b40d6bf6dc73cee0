/** Scenes of applying: from the client and on the server, conflicts, differences, kustomizations, pruning. */
import { configMap, documents, widget } from "./kubectlManifests.ts"
import type { Scene } from "./kubectlScene.ts"

const old = (name: string, spec: string): string =>
  `apiVersion: shop.example.com/v1alpha1\nkind: Widget\nmetadata: {name: ${name}}\nspec: ${spec}\n`

const status = (name: string, fields: string): string =>
  `apiVersion: shop.example.com/v1\nkind: Widget\nmetadata: {name: ${name}}\nstatus: ${fields}\n`

/** One object by two versions, and its status by several managers. */
const versions: Scene = {
  name: "versions",
  namespace: "versions",
  steps: [
    "create namespace versions",
    { line: "apply -f -", stdin: old("anna", "{size: 3, other: thing}") },
    { line: "apply --server-side -f -", stdin: old("bert", "{size: 4}") },
    { line: "apply --server-side -f -", stdin: widget("bert", "size: 5") },
    "get widgets -o yaml --show-managed-fields",
    { line: "edit widgets.v1alpha1.shop.example.com anna", editor: "s/size: 3/size: 6/" },
    "get widgets.v1alpha1.shop.example.com anna -o yaml",
    { line: "apply --server-side --subresource=status -f -", stdin: status("anna", "{phase: Sold}") },
    {
      line: "apply --server-side --subresource=status --field-manager=other -f -",
      stdin: status("anna", "{phase: Lent}")
    },
    { line: "replace --subresource=status -f -", stdin: status("anna", "{phase: Kept}") },
    "get widget anna -o yaml --show-managed-fields",
    `patch widget anna --subresource=status --type=merge -p '{"status":{"phase":3}}'`
  ]
}

export const applying: ReadonlyArray<Scene> = [
  versions,
  {
    name: "applying",
    namespace: "applying",
    files: {
      "first.yaml": widget("anna", "size: 3", "color: red", "parts: [{name: wheel}]"),
      "second.yaml": widget("anna", "size: 4", "parts: [{name: axle}]"),
      "invalid.yaml": widget("anna", "size: 400"),
      "unknown.yaml": widget("anna", "size: 4", "seize: 4"),
      "config.yaml": configMap("config", "a: first", "b: second"),
      "config2.yaml": configMap("config", "a: first", "c: third"),
      "shop.yaml": documents(
        configMap("left", "a: b").replace("  name", "  labels: {app: shop}\n  name"),
        configMap("right", "a: b").replace("  name", "  labels: {app: shop}\n  name")
      ),
      "less.yaml": configMap("left", "a: b").replace("  name", "  labels: {app: shop}\n  name"),
      "base/kustomization.yaml":
        "resources: [widget.yaml]\nnamePrefix: my-\ncommonLabels: {app: shop}\nconfigMapGenerator:\n- name: made\n  literals: [a=b]\n",
      "base/widget.yaml": widget("kurt", "size: 7")
    },
    steps: [
      "create namespace applying",
      "diff -f first.yaml",
      "apply -f first.yaml --dry-run=client",
      "apply -f first.yaml --dry-run=server",
      "apply -f first.yaml",
      "apply -f first.yaml",
      "get widget anna -o yaml",
      "apply view-last-applied widget/anna",
      "diff -f second.yaml",
      "apply -f second.yaml",
      "get widget anna -o yaml --show-managed-fields",
      "diff -f second.yaml",
      "apply -f invalid.yaml",
      "apply -f unknown.yaml",
      "apply -f unknown.yaml --validate=warn",
      "apply -f config.yaml",
      "apply -f config2.yaml",
      "get configmap config -o yaml",
      "apply -f config2.yaml -o name",
      "apply -f shop.yaml --prune -l app=shop --prune-allowlist=core/v1/ConfigMap",
      "apply -f less.yaml --prune -l app=shop --prune-allowlist=core/v1/ConfigMap",
      "get configmaps -l app=shop -o name",
      "kustomize base",
      "apply -k base",
      "apply -k base",
      "diff -k base",
      "get -k base",
      "delete -k base",
      "replace -f first.yaml",
      "apply set-last-applied -f first.yaml",
      "create configmap bare --from-literal=a=b",
      { line: "apply -f -", stdin: configMap("bare", "a: c") },
      { line: "apply -f - --force", stdin: configMap("bare", "a: d") }
    ]
  },
  {
    name: "server-side",
    namespace: "server-side",
    files: {
      "first.yaml": widget("anna", "size: 3", "color: red", "parts: [{name: wheel, count: 4}]"),
      "size.yaml": widget("anna", "size: 5"),
      "parts.yaml": widget("anna", "size: 3", "parts: [{name: axle, count: 2}]"),
      "unknown.yaml": widget("anna", "size: 3", "seize: 4"),
      "config.yaml": configMap("config", "a: first"),
      "mine.yaml": configMap("mine", "a: first", "b: second"),
      "changed.yaml": configMap("mine", "a: changed", "b: second"),
      "third.yaml": configMap("mine", "a: <third>", "b: second", "c: third")
    },
    steps: [
      "create namespace server-side",
      "apply --server-side -f first.yaml --dry-run=server",
      "apply --server-side -f first.yaml",
      "apply --server-side -f first.yaml",
      "get widget anna -o yaml --show-managed-fields",
      "apply --server-side -f size.yaml --field-manager=other",
      "apply --server-side -f size.yaml --field-manager=other --force-conflicts",
      "apply --server-side -f parts.yaml --field-manager=third",
      "apply --server-side -f parts.yaml --field-manager=third --force-conflicts",
      "get widget anna -o yaml --show-managed-fields",
      "apply --server-side -f unknown.yaml",
      "diff --server-side -f size.yaml",
      "diff --server-side -f size.yaml --force-conflicts",
      "apply --server-side -f config.yaml --field-manager=one",
      'patch configmap config --type=merge -p \'{"data":{"a":"changed"}}\'',
      "apply --server-side -f config.yaml --field-manager=one",
      "apply --server-side -f config.yaml --field-manager=one --force-conflicts -o yaml --show-managed-fields",
      "apply -f mine.yaml",
      "apply --server-side -f mine.yaml",
      "get configmap mine -o yaml --show-managed-fields",
      "apply --server-side -f mine.yaml --validate=ignore -o name",
      "delete configmap mine",
      "apply -f mine.yaml",
      "apply --server-side -f changed.yaml",
      "get configmap mine -o yaml --show-managed-fields",
      "delete configmap mine",
      "apply -f mine.yaml",
      'patch configmap mine -p \'{"data":{"a":"patched"}}\'',
      "apply --server-side -f third.yaml",
      "apply --server-side -f third.yaml --force-conflicts",
      "get configmap mine -o yaml --show-managed-fields"
    ]
  }
]
