/** Scenes of creating: from files, by the generators, what is refused and why. */
import { configMap, documents, widget } from "./kubectlManifests.ts"
import type { Scene } from "./kubectlScene.ts"

const list = JSON.stringify({
  apiVersion: "v1",
  kind: "List",
  items: ["one", "two"].map((name) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { name } }))
})

const secret = (type: string): string =>
  `apiVersion: v1\nkind: Secret\nmetadata: {name: secret}\ntype: kubernetes.io/${type}\ndata: {}\n`

const service = (ports: string): string =>
  `apiVersion: v1\nkind: Service\nmetadata: {name: service}\nspec: {ports: ${ports}}\n`

const configuration = (fields: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: configuration}\n${fields}\n`

const labelled = (metadata: string): string =>
  widget("labelled", "size: 3").replace("  name: labelled", `  ${metadata}`)

const definition = (schema: string): string => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: bads.bad.example.com}
spec:
  group: bad.example.com
  scope: Namespaced
  names: {kind: Bad, plural: bads}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: ${schema}}}
`

/** What the servers refuse, each by its own rules. */
const mistaking: Scene = {
  name: "mistaking",
  namespace: "mistaking",
  steps: [
    "create namespace mistaking",
    "create namespace a.b",
    "create namespace A_B",
    ...[
      secret("tls"),
      secret("basic-auth"),
      service("[]"),
      service("[{port: 0}]"),
      service("[{port: 80}, {port: 81}]"),
      configuration("data: {'a b': c}"),
      configuration("data: {a: 1}"),
      configuration("datas: {a: b}"),
      configuration("binaryData: {a: '!'}"),
      configuration("immutable: true\ndata: {a: b}"),
      labelled("labels: {'a b': c}"),
      labelled("finalizers: [nodomain]"),
      labelled("ownerReferences: [{kind: A, name: b}]"),
      labelled("resourceVersion: '3'"),
      labelled("unknown: 1"),
      labelled("name: ''"),
      definition("{type: object, properties: {a: {}}}"),
      definition("{type: string}"),
      definition("{type: object, properties: {a: {type: array}}}")
    ].map((stdin) => ({ line: "create -f -", stdin })),
    `patch configmap configuration -p '{"data":{"a":"c"}}'`,
    "create configmap far -n nowhere --from-literal=a=b"
  ]
}

export const creating: ReadonlyArray<Scene> = [
  mistaking,
  {
    name: "creating",
    namespace: "creating",
    files: {
      "widget.yaml": widget("anna", "size: 3"),
      "several.yaml": documents(widget("dora", "size: 3"), configMap("dora", "a: b"), widget("emil", "size: 4")),
      "list.json": list,
      "invalid.yaml": widget("wrong", "size: 1000", "color: black", "owner: Über", "replicas: -1", "tags: [a, a]"),
      "untyped.yaml": widget("wrong", "size: large", "color: [red]"),
      "sizeless.yaml": widget("wrong", "color: red"),
      "unknown.yaml": widget("strange", "size: 3", "seize: 4", "parts: [{name: a, number: 1}]"),
      "twice.yaml": widget("twice", "size: 3", "size: 4"),
      "misnamed.yaml": widget("Not_A_Name", "size: 3"),
      "generated.yaml": widget("x", "size: 3").replace("name: x", "generateName: x-"),
      "kindless.yaml": "apiVersion: shop.example.com/v1\nmetadata: {name: a}\n",
      "foreign.yaml": "apiVersion: nothing.example.com/v1\nkind: Nothing\nmetadata: {name: a}\n",
      "broken.yaml": "apiVersion: v1\nkind: [ConfigMap\n",
      "letter.txt": "a letter\n"
    },
    steps: [
      "create namespace creating",
      "create namespace creating",
      "create namespace creating --dry-run=client -o yaml",
      "create -f widget.yaml",
      "create -f widget.yaml",
      "create -f several.yaml",
      "create -f list.json",
      "create -f widget.yaml --dry-run=client -o yaml",
      "create -f unknown.yaml --dry-run=server --validate=ignore -o yaml",
      "create -f unknown.yaml",
      "create -f unknown.yaml --validate=warn",
      "delete -f unknown.yaml",
      "create -f unknown.yaml --validate=ignore",
      "get widget strange -o yaml",
      "create -f twice.yaml",
      { line: "create -f invalid.yaml", unordered: true },
      { line: "create -f untyped.yaml", unordered: true },
      { line: "create -f untyped.yaml --validate=ignore", unordered: true },
      "create -f sizeless.yaml",
      "create -f misnamed.yaml",
      "create -f kindless.yaml",
      "create -f foreign.yaml",
      "create -f broken.yaml",
      "create -f absent.yaml",
      "create -f widget.yaml -n nowhere",
      "create -f several.yaml -o name",
      { line: "create -f -", stdin: widget("frida", "size: 5") },
      "create -f generated.yaml --dry-run=server -o jsonpath='{.metadata.generateName}'",
      "create configmap plain --from-literal=a=b --from-file=letter.txt",
      "create configmap plain --from-literal=a=b",
      "describe configmap plain",
      "create secret generic hidden --from-literal=password=geheim --from-file=letter.txt",
      "get secret hidden -o jsonpath='{.data.password}'",
      "get secrets",
      "describe secret hidden",
      "create secret docker-registry pull --docker-server=registry.example.com --docker-username=u --docker-password=p",
      "create serviceaccount robot",
      "get serviceaccount robot -o yaml",
      "describe serviceaccount robot",
      "create role reader --verb=get,list,watch --resource=widgets.shop.example.com,configmaps",
      "create rolebinding reader --role=reader --serviceaccount=creating:robot",
      "get role,rolebinding",
      "get rolebinding -o wide",
      "describe role reader",
      "describe rolebinding reader",
      "create clusterrole shopkeeper --verb='*' --resource=widgets.shop.example.com --dry-run=server -o yaml",
      "create role broken --verb=fly --resource=nothings",
      "create priorityclass high --value=1000 --description='the first'",
      "get priorityclass high",
      "delete priorityclass high",
      "create quota few --hard=pods=3,limits.cpu=2",
      "get quota few",
      "describe quota few",
      "create poddisruptionbudget most --selector=app=shop --min-available=50%",
      "get pdb",
      "get pdb most -o yaml",
      "create ingress front --rule='shop.example.com/widgets*=shop:80'",
      "get ingress",
      "get ingress front -o yaml",
      "create nothing"
    ]
  }
]
