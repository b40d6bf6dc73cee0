/** Scenes of what a server says about itself and what it serves. */
import { depotDefinition, widgetDefinition } from "./kubectlManifests.ts"
import type { Scene } from "./kubectlScene.ts"

/** What the other scenes stand on. */
export const installing: Scene = {
  name: "installing",
  files: { "widgets.yaml": widgetDefinition, "depots.yaml": depotDefinition },
  steps: [
    "get widgets",
    "apply -f widgets.yaml",
    "create -f depots.yaml",
    "wait --for=condition=Established crd/widgets.shop.example.com crd/depots.shop.example.com --timeout=20s",
    "get crd",
    "get crd widgets.shop.example.com -o wide",
    "get crd widgets.shop.example.com -o yaml",
    "get crd depots.shop.example.com -o jsonpath='{.status.acceptedNames}{\"\\n\"}'",
    "describe crd depots.shop.example.com",
    "apply -f widgets.yaml",
    "diff -f widgets.yaml",
    "create -f depots.yaml",
    'patch crd depots.shop.example.com --type=json -p \'[{"op":"replace","path":"/spec/scope","value":"Namespaced"}]\'',
    `patch crd depots.shop.example.com --type=json -p '[{"op":"add","path":"/spec/versions/0/additionalPrinterColumns","value":[{"name":"City","type":"string","jsonPath":".spec.city"}]}]'`,
    "get crd depots.shop.example.com -o jsonpath='{.status.conditions[*].type} {.metadata.generation}'"
  ]
}

export const serving: ReadonlyArray<Scene> = [
  {
    name: "serving",
    steps: [
      "version",
      "version -o json",
      "cluster-info",
      "api-versions",
      "api-resources --api-group=shop.example.com",
      "api-resources --api-group=shop.example.com -o wide",
      "api-resources -o name",
      "api-resources --api-group=batch -o wide",
      "api-resources --api-group=rbac.authorization.k8s.io -o wide",
      "api-resources --api-group=coordination.k8s.io",
      "api-resources --api-group=autoscaling",
      "api-resources --categories=shop",
      "api-resources --namespaced=false --api-group=apiextensions.k8s.io",
      "get --raw /healthz",
      "get --raw /readyz",
      "get --raw /livez",
      "get --raw /version",
      "get --raw /api",
      "get --raw /apis/shop.example.com",
      "get --raw /apis/shop.example.com/v1/namespaces/default/widgets",
      "get --raw /apis/shop.example.com/v1/namespaces/default/widgets/absent",
      "get --raw /apis/nothing.example.com/v1",
      "get --raw /nothing"
    ]
  },
  {
    name: "explaining",
    steps: [
      "explain widget",
      "explain widgets.spec",
      "explain widgets.spec.size",
      "explain wd.spec.parts.count",
      "explain widgets.spec --recursive",
      "explain widgets --api-version=shop.example.com/v1alpha1",
      "explain depots --recursive",
      "explain widgets.spec.nothing",
      "explain nothings",
      "explain configmap",
      "explain configmap.data",
      "explain deployment.spec.strategy",
      "explain deployment.spec --recursive",
      "explain lease.spec --output=plaintext-openapiv2"
    ]
  },
  {
    name: "access",
    steps: [
      "auth whoami",
      "auth whoami -o yaml",
      "auth can-i create widgets",
      "auth can-i '*' '*'",
      "auth can-i get widgets/status -n access",
      "auth can-i get nothings",
      "auth can-i get /healthz",
      { line: "auth can-i --list", unordered: true }
    ]
  }
]
