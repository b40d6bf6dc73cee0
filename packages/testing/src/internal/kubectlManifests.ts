/** The two custom resources of the kubectl script, and objects of them. */

/** Namespaced, with all that `kubectl` shows of a CustomResourceDefinition: columns, short names, categories, subresources, an old version, defaults. */
export const widgetDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.shop.example.com
spec:
  group: shop.example.com
  scope: Namespaced
  names:
    kind: Widget
    plural: widgets
    singular: widget
    shortNames: [wd]
    categories: [all, shop]
  versions:
  - name: v1
    served: true
    storage: true
    selectableFields:
    - jsonPath: .spec.color
    subresources:
      status: {}
      scale:
        specReplicasPath: .spec.replicas
        statusReplicasPath: .status.replicas
        labelSelectorPath: .status.selector
    additionalPrinterColumns:
    - name: Size
      type: integer
      description: How large the widget is.
      jsonPath: .spec.size
    - name: Color
      type: string
      jsonPath: .spec.color
    - name: Phase
      type: string
      jsonPath: .status.phase
    - name: Ready
      type: string
      jsonPath: .status.conditions[?(@.type=="Ready")].status
    - name: Parts
      type: string
      priority: 1
      jsonPath: .spec.parts[*].name
    - name: Age
      type: date
      jsonPath: .metadata.creationTimestamp
    schema:
      openAPIV3Schema:
        description: Widget is something that a shop sells.
        type: object
        required: [spec]
        properties:
          spec:
            description: What is wanted.
            type: object
            required: [size]
            properties:
              size:
                description: How large it is, in centimetres.
                type: integer
                format: int32
                minimum: 1
                maximum: 100
              color:
                description: Its color.
                type: string
                default: blue
                enum: [blue, green, red]
              replicas:
                type: integer
                default: 1
                minimum: 0
              owner:
                type: string
                pattern: '^[a-z]+$'
                maxLength: 12
              width:
                x-kubernetes-int-or-string: true
              tags:
                type: array
                x-kubernetes-list-type: set
                items: {type: string}
              parts:
                description: What it is made of.
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties:
                    name: {type: string}
                    count: {type: integer, default: 1}
          status:
            description: What was seen.
            type: object
            properties:
              phase: {type: string}
              replicas: {type: integer}
              selector: {type: string}
              conditions:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [type]
                items:
                  type: object
                  required: [type, status]
                  properties:
                    type: {type: string}
                    status: {type: string}
                    reason: {type: string}
                    message: {type: string}
                    lastTransitionTime: {type: string, format: date-time}
  - name: v1alpha1
    served: true
    storage: false
    deprecated: true
    deprecationWarning: shop.example.com/v1alpha1 Widget is old; use shop.example.com/v1 Widget
    additionalPrinterColumns:
    - name: Old Size
      type: integer
      jsonPath: .spec.size
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
`

/** Of the cluster, with free fields and no subresources. */
export const depotDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: depots.shop.example.com
spec:
  group: shop.example.com
  scope: Cluster
  names:
    kind: Depot
    plural: depots
    singular: depot
    categories: [shop]
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        description: Depot is where widgets wait.
        type: object
        properties:
          spec:
            type: object
            x-kubernetes-preserve-unknown-fields: true
            properties:
              city: {type: string}
          status:
            type: object
            x-kubernetes-preserve-unknown-fields: true
`

/** A Widget of the given spec, one field a line. */
export const widget = (name: string, ...spec: ReadonlyArray<string>): string =>
  `apiVersion: shop.example.com/v1
kind: Widget
metadata:
  name: ${name}
spec:
${spec.map((line) => `  ${line}\n`).join("")}`

export const configMap = (name: string, ...data: ReadonlyArray<string>): string =>
  `apiVersion: v1
kind: ConfigMap
metadata:
  name: ${name}
data:
${data.map((line) => `  ${line}\n`).join("")}`

/** Several documents as one text. */
export const documents = (...texts: ReadonlyArray<string>): string => texts.join("---\n")

/** An Event about an object, of a time long past, so that its age stays the same. */
export const event = (name: string, about: { readonly kind: string; readonly name: string }, type: string): string =>
  `apiVersion: v1
kind: Event
metadata:
  name: ${name}
type: ${type}
reason: ${type === "Normal" ? "Painted" : "Cracked"}
message: ${type === "Normal" ? "painted it blue" : "found a crack"}
involvedObject:
  apiVersion: ${about.kind === "Widget" ? "shop.example.com/v1" : "v1"}
  kind: ${about.kind}
  name: ${about.name}
  namespace: reading
source:
  component: shop
firstTimestamp: "2026-01-01T00:00:00Z"
lastTimestamp: "2026-01-0${(name.length % 8) + 1}T00:00:00Z"
count: 2
`
