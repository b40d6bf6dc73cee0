/** Columns of the Tables of built-in kinds, made by scripts/builtInSchemas.ts from those of kube-apiserver v1.36.3. Not to be edited. */

/** By `group/version Kind`, as JSON: most are never read. A description is the number of one below. */
export const columns: Readonly<Record<string, string>> = {
  "apiextensions.k8s.io/v1 CustomResourceDefinition":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Created At","type":"date","format":"","description":2,"priority":0}]',
  "apps/v1 DaemonSet":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Desired","type":"integer","format":"","description":36,"priority":0},{"name":"Current","type":"integer","format":"","description":37,"priority":0},{"name":"Ready","type":"integer","format":"","description":38,"priority":0},{"name":"Up-to-date","type":"integer","format":"","description":39,"priority":0},{"name":"Available","type":"integer","format":"","description":40,"priority":0},{"name":"Node Selector","type":"string","format":"","description":41,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0},{"name":"Containers","type":"string","format":"","description":42,"priority":1},{"name":"Images","type":"string","format":"","description":43,"priority":1},{"name":"Selector","type":"string","format":"","description":44,"priority":1}]',
  "apps/v1 Deployment":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Ready","type":"string","format":"","description":45,"priority":0},{"name":"Up-to-date","type":"string","format":"","description":46,"priority":0},{"name":"Available","type":"string","format":"","description":47,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0},{"name":"Containers","type":"string","format":"","description":42,"priority":1},{"name":"Images","type":"string","format":"","description":43,"priority":1},{"name":"Selector","type":"string","format":"","description":48,"priority":1}]',
  "apps/v1 ReplicaSet":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Desired","type":"integer","format":"","description":49,"priority":0},{"name":"Current","type":"integer","format":"","description":50,"priority":0},{"name":"Ready","type":"integer","format":"","description":51,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0},{"name":"Containers","type":"string","format":"","description":42,"priority":1},{"name":"Images","type":"string","format":"","description":43,"priority":1},{"name":"Selector","type":"string","format":"","description":52,"priority":1}]',
  "apps/v1 StatefulSet":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Ready","type":"string","format":"","description":45,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0},{"name":"Containers","type":"string","format":"","description":42,"priority":1},{"name":"Images","type":"string","format":"","description":43,"priority":1}]',
  "autoscaling/v2 HorizontalPodAutoscaler":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Reference","type":"string","format":"","description":70,"priority":0},{"name":"Targets","type":"string","format":"","description":71,"priority":0},{"name":"MinPods","type":"string","format":"","description":72,"priority":0},{"name":"MaxPods","type":"string","format":"","description":73,"priority":0},{"name":"Replicas","type":"string","format":"","description":74,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0}]',
  "batch/v1 CronJob":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Schedule","type":"string","format":"","description":53,"priority":0},{"name":"Timezone","type":"string","format":"","description":54,"priority":0},{"name":"Suspend","type":"boolean","format":"","description":55,"priority":0},{"name":"Active","type":"integer","format":"","description":56,"priority":0},{"name":"Last Schedule","type":"string","format":"","description":57,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0},{"name":"Containers","type":"string","format":"","description":42,"priority":1},{"name":"Images","type":"string","format":"","description":43,"priority":1},{"name":"Selector","type":"string","format":"","description":58,"priority":1}]',
  "batch/v1 Job":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Status","type":"string","format":"","description":59,"priority":0},{"name":"Completions","type":"string","format":"","description":60,"priority":0},{"name":"Duration","type":"string","format":"","description":61,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0},{"name":"Containers","type":"string","format":"","description":42,"priority":1},{"name":"Images","type":"string","format":"","description":43,"priority":1},{"name":"Selector","type":"string","format":"","description":58,"priority":1}]',
  "coordination.k8s.io/v1 Lease":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Holder","type":"string","format":"","description":86,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0}]',
  "events.k8s.io/v1 Event":
    '[{"name":"Last Seen","type":"string","format":"","description":3,"priority":0},{"name":"Type","type":"string","format":"","description":4,"priority":0},{"name":"Reason","type":"string","format":"","description":5,"priority":0},{"name":"Object","type":"string","format":"","description":6,"priority":0},{"name":"Subobject","type":"string","format":"","description":7,"priority":1},{"name":"Source","type":"string","format":"","description":8,"priority":1},{"name":"Message","type":"string","format":"","description":9,"priority":0},{"name":"First Seen","type":"string","format":"","description":10,"priority":1},{"name":"Count","type":"string","format":"","description":11,"priority":1},{"name":"Name","type":"string","format":"name","description":0,"priority":1}]',
  "networking.k8s.io/v1 Ingress":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Class","type":"string","format":"","description":62,"priority":0},{"name":"Hosts","type":"string","format":"","description":63,"priority":0},{"name":"Address","type":"string","format":"","description":64,"priority":0},{"name":"Ports","type":"string","format":"","description":65,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0}]',
  "networking.k8s.io/v1 NetworkPolicy":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Pod-Selector","type":"string","format":"","description":66,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0}]',
  "policy/v1 PodDisruptionBudget":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Min Available","type":"string","format":"","description":67,"priority":0},{"name":"Max Unavailable","type":"string","format":"","description":68,"priority":0},{"name":"Allowed Disruptions","type":"integer","format":"","description":69,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0}]',
  "rbac.authorization.k8s.io/v1 ClusterRole":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Created At","type":"date","format":"","description":2,"priority":0}]',
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Role","type":"string","format":"","description":78,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0},{"name":"Users","type":"string","format":"","description":79,"priority":1},{"name":"Groups","type":"string","format":"","description":80,"priority":1},{"name":"ServiceAccounts","type":"string","format":"","description":81,"priority":1}]',
  "rbac.authorization.k8s.io/v1 Role":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Created At","type":"date","format":"","description":2,"priority":0}]',
  "rbac.authorization.k8s.io/v1 RoleBinding":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Role","type":"string","format":"","description":82,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0},{"name":"Users","type":"string","format":"","description":83,"priority":1},{"name":"Groups","type":"string","format":"","description":84,"priority":1},{"name":"ServiceAccounts","type":"string","format":"","description":85,"priority":1}]',
  "scheduling.k8s.io/v1 PriorityClass":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Value","type":"integer","format":"","description":75,"priority":0},{"name":"Global-Default","type":"boolean","format":"","description":76,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0},{"name":"PreemptionPolicy","type":"string","format":"","description":77,"priority":0}]',
  "v1 ConfigMap":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Data","type":"string","format":"","description":1,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0}]',
  "v1 Event":
    '[{"name":"Last Seen","type":"string","format":"","description":3,"priority":0},{"name":"Type","type":"string","format":"","description":4,"priority":0},{"name":"Reason","type":"string","format":"","description":5,"priority":0},{"name":"Object","type":"string","format":"","description":6,"priority":0},{"name":"Subobject","type":"string","format":"","description":7,"priority":1},{"name":"Source","type":"string","format":"","description":8,"priority":1},{"name":"Message","type":"string","format":"","description":9,"priority":0},{"name":"First Seen","type":"string","format":"","description":10,"priority":1},{"name":"Count","type":"string","format":"","description":11,"priority":1},{"name":"Name","type":"string","format":"name","description":0,"priority":1}]',
  "v1 LimitRange":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Created At","type":"date","format":"","description":2,"priority":0}]',
  "v1 Namespace":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Status","type":"string","format":"","description":12,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0}]',
  "v1 PersistentVolumeClaim":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Status","type":"string","format":"","description":13,"priority":0},{"name":"Volume","type":"string","format":"","description":14,"priority":0},{"name":"Capacity","type":"string","format":"","description":15,"priority":0},{"name":"Access Modes","type":"string","format":"","description":16,"priority":0},{"name":"StorageClass","type":"string","format":"","description":17,"priority":0},{"name":"VolumeAttributesClass","type":"string","format":"","description":18,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0},{"name":"VolumeMode","type":"string","format":"","description":19,"priority":1}]',
  "v1 Pod":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Ready","type":"string","format":"","description":20,"priority":0},{"name":"Status","type":"string","format":"","description":21,"priority":0},{"name":"Restarts","type":"string","format":"","description":22,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0},{"name":"IP","type":"string","format":"","description":23,"priority":1},{"name":"Node","type":"string","format":"","description":24,"priority":1},{"name":"Nominated Node","type":"string","format":"","description":25,"priority":1},{"name":"Readiness Gates","type":"string","format":"","description":26,"priority":1}]',
  "v1 ResourceQuota":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Request","type":"string","format":"","description":27,"priority":0},{"name":"Limit","type":"string","format":"","description":28,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0}]',
  "v1 Secret":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Type","type":"string","format":"","description":29,"priority":0},{"name":"Data","type":"string","format":"","description":30,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0}]',
  "v1 Service":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Type","type":"string","format":"","description":31,"priority":0},{"name":"Cluster-IP","type":"string","format":"","description":32,"priority":0},{"name":"External-IP","type":"string","format":"","description":33,"priority":0},{"name":"Port(s)","type":"string","format":"","description":34,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0},{"name":"Selector","type":"string","format":"","description":35,"priority":1}]',
  "v1 ServiceAccount":
    '[{"name":"Name","type":"string","format":"name","description":0,"priority":0},{"name":"Age","type":"string","format":"","description":2,"priority":0}]'
}

export const descriptions: ReadonlyArray<string> = [
  "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a client to request the generation of an appropriate name automatically. Name is primarily intended for creation idempotence and configuration definition. Cannot be updated. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names",
  "Data contains the configuration data. Each key must consist of alphanumeric characters, '-', '_' or '.'. Values with non-UTF-8 byte sequences must use the BinaryData field. The keys stored in Data must not overlap with the keys in the BinaryData field, this is enforced during validation process.",
  "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed to be set in happens-before order across separate operations. Clients may not set this value. It is represented in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata",
  "The time at which the most recent occurrence of this event was recorded.",
  "Type of this event (Normal, Warning), new types could be added in the future",
  "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
  "The object that this event is about.",
  'If referring to a piece of an object instead of an entire object, this string should contain a valid JSON/Go field access statement, such as desiredState.manifest.containers[2]. For example, if the object reference is to a container within a pod, this would take on a value like: "spec.containers{name}" (where "name" refers to the name of the container that triggered the event) or if no container name is specified "spec.containers[2]" (container with index 2 in this pod). This syntax is chosen only to have some well-defined way of referencing a part of an object.',
  "The component reporting this event. Should be a short machine understandable string.",
  "A human-readable description of the status of this operation.",
  "The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)",
  "The number of times this event has occurred.",
  "The status of the namespace",
  "phase represents the current phase of PersistentVolumeClaim.",
  "volumeName is the binding reference to the PersistentVolume backing this claim.",
  "capacity represents the actual resources of the underlying volume.",
  "accessModes contains the actual access modes the volume backing the PVC has. More info: https://kubernetes.io/docs/concepts/storage/persistent-volumes#access-modes-1",
  "StorageClass of the pvc",
  "VolumeAttributesClass of the pvc",
  "volumeMode defines what type of volume is required by the claim. Value of Filesystem is implied when not included in claim spec.",
  "The aggregate readiness state of this pod for accepting traffic.",
  "The aggregate status of the containers in this pod.",
  "The number of times the containers in this pod have been restarted and when the last container in this pod has restarted.",
  "podIP address allocated to the pod. Routable at least within the cluster. Empty if not yet allocated.",
  "NodeName indicates in which node this pod is scheduled. If empty, this pod is a candidate for scheduling by the scheduler defined in schedulerName. Once this field is set, the kubelet for this node becomes responsible for the lifecycle of this pod. This field should not be used to express a desire for the pod to be scheduled on a specific node. https://kubernetes.io/docs/concepts/scheduling-eviction/assign-pod-node/#nodename",
  "nominatedNodeName is set only when this pod preempts other pods on the node, but it cannot be scheduled right away as preemption victims receive their graceful termination periods. This field does not guarantee that the pod will be scheduled on this node. Scheduler may decide to place the pod elsewhere if other nodes become available sooner. Scheduler may also decide to give the resources on this node to a higher priority pod that is created after preemption. As a result, this field may be different than PodSpec.nodeName when the pod is scheduled.",
  'If specified, all readiness gates will be evaluated for pod readiness. A pod is ready when all its containers are ready AND all conditions specified in the readiness gates have status equal to "True" More info: https://git.k8s.io/enhancements/keps/sig-network/580-pod-readiness-gates',
  "Request represents a minimum amount of cpu/memory that a container may consume.",
  "Limits control the maximum amount of cpu/memory that a container may use independent of contention on the node.",
  "Used to facilitate programmatic handling of secret data. More info: https://kubernetes.io/docs/concepts/configuration/secret/#secret-types",
  "Data contains the secret data. Each key must consist of alphanumeric characters, '-', '_' or '.'. The serialized form of the secret data is a base64 encoded string, representing the arbitrary (possibly non-string) data value here. Described in https://tools.ietf.org/html/rfc4648#section-4",
  'type determines how the Service is exposed. Defaults to ClusterIP. Valid options are ExternalName, ClusterIP, NodePort, and LoadBalancer. "ClusterIP" allocates a cluster-internal IP address for load-balancing to endpoints. Endpoints are determined by the selector or if that is not specified, by manual construction of an Endpoints object or EndpointSlice objects. If clusterIP is "None", no virtual IP is allocated and the endpoints are published as a set of endpoints rather than a virtual IP. "NodePort" builds on ClusterIP and allocates a port on every node which routes to the same endpoints as the clusterIP. "LoadBalancer" builds on NodePort and creates an external load-balancer (if supported in the current cloud) which routes to the same endpoints as the clusterIP. "ExternalName" aliases this service to the specified externalName. Several other fields do not apply to ExternalName services. More info: https://kubernetes.io/docs/concepts/services-networking/service/#publishing-services-service-types',
  'clusterIP is the IP address of the service and is usually assigned randomly. If an address is specified manually, is in-range (as per system configuration), and is not in use, it will be allocated to the service; otherwise creation of the service will fail. This field may not be changed through updates unless the type field is also being changed to ExternalName (which requires this field to be blank) or the type field is being changed from ExternalName (in which case this field may optionally be specified, as describe above).  Valid values are "None", empty string (""), or a valid IP address. Setting this to "None" makes a "headless service" (no virtual IP), which is useful when direct endpoint connections are preferred and proxying is not required.  Only applies to types ClusterIP, NodePort, and LoadBalancer. If this field is specified when creating a Service of type ExternalName, creation will fail. This field will be wiped when updating a Service to type ExternalName. More info: https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies',
  "externalIPs is a list of IP addresses for which nodes in the cluster will also accept traffic for this service.  These IPs are not managed by Kubernetes.  The user is responsible for ensuring that traffic arrives at a node with this IP.  A common example is external load-balancers that are not part of the Kubernetes system.",
  "The list of ports that are exposed by this service. More info: https://kubernetes.io/docs/concepts/services-networking/service/#virtual-ips-and-service-proxies",
  "Route service traffic to pods with label keys and values matching this selector. If empty or not present, the service is assumed to have an external process managing its endpoints, which Kubernetes will not modify. Only applies to types ClusterIP, NodePort, and LoadBalancer. Ignored if type is ExternalName. More info: https://kubernetes.io/docs/concepts/services-networking/service/",
  "The total number of nodes that should be running the daemon pod (including nodes correctly running the daemon pod). More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
  "The number of nodes that are running at least 1 daemon pod and are supposed to run the daemon pod. More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/",
  "numberReady is the number of nodes that should be running the daemon pod and have one or more of the daemon pod running with a Ready Condition.",
  "The total number of nodes that are running updated daemon pod",
  "The number of nodes that should be running the daemon pod and have one or more of the daemon pod running and available (ready for at least spec.minReadySeconds)",
  "NodeSelector is a selector which must be true for the pod to fit on a node. Selector which must match a node's labels for the pod to be scheduled on that node. More info: https://kubernetes.io/docs/concepts/configuration/assign-pod-node/",
  "Names of each container in the template.",
  "Images referenced by each container in the template.",
  "A label query over pods that are managed by the daemon set. Must match in order to be controlled. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
  "Number of the pod with ready state",
  "Total number of non-terminating pods targeted by this deployment that have the desired template spec.",
  "Total number of available non-terminating pods (ready for at least minReadySeconds) targeted by this deployment.",
  "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones affected by this deployment. It must match the pod template's labels.",
  "Replicas is the number of desired pods. This is a pointer to distinguish between explicit zero and unspecified. Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicaset",
  "Replicas is the most recently observed number of non-terminating pods. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicaset",
  "The number of non-terminating pods targeted by this ReplicaSet with a Ready Condition.",
  "Selector is a label query over pods that should match the replica count. Label keys and values that must match in order to be controlled by this replica set. It must match the pod template's labels. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
  "The schedule in Cron format, see https://en.wikipedia.org/wiki/Cron.",
  "The time zone name for the given schedule, see https://en.wikipedia.org/wiki/List_of_tz_database_time_zones. If not specified, this will default to the time zone of the kube-controller-manager process. The set of valid time zone names and the time zone offset is loaded from the system-wide time zone database by the API server during CronJob validation and the controller manager during execution. If no system-wide time zone database can be found a bundled version of the database is used instead. If the time zone name becomes invalid during the lifetime of a CronJob or due to a change in host configuration, the controller will stop creating new new Jobs and will create a system event with the reason UnknownTimeZone. More information can be found in https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/#time-zones",
  "This flag tells the controller to suspend subsequent executions, it does not apply to already started executions.  Defaults to false.",
  "A list of pointers to currently running jobs.",
  "Information when was the last time the job was successfully scheduled.",
  "A label query over pods that should match the pod count. Normally, the system sets this field for you. More info: https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
  "Status of the job.",
  "The number of pods which reached phase Succeeded. The value increases monotonically for a given spec. However, it may decrease in reaction to scale down of elastic indexed jobs.",
  "Time required to complete the job.",
  "The name of the IngressClass resource that should be used for additional configuration",
  "Hosts that incoming requests are matched against before the ingress rule",
  "Address is a list containing ingress points for the load-balancer",
  "Ports of TLS configurations that open",
  "podSelector selects the pods to which this NetworkPolicy object applies. The array of rules is applied to any pods selected by this field. An empty selector matches all pods in the policy's namespace. Multiple network policies can select the same set of pods. In this case, the ingress rules for each are combined additively. This field is optional. If it is not specified, it defaults to an empty selector.",
  "The minimum number of pods that must be available.",
  "The maximum number of pods that may be unavailable.",
  "Calculated number of pods that may be disrupted at this time.",
  "scaleTargetRef points to the target resource to scale, and is used to the pods for which metrics should be collected, as well as to actually change the replica count.",
  "metrics contains the specifications for which to use to calculate the desired replica count (the maximum replica count across all metrics will be used).  The desired replica count is calculated multiplying the ratio between the target value and the current value by the current number of pods.  Ergo, metrics used must decrease as the pod count is increased, and vice-versa.  See the individual metric source types for more information about how each type of metric must respond. If not set, the default metric will be set to 80% average CPU utilization.",
  "minReplicas is the lower limit for the number of replicas to which the autoscaler can scale down.  It defaults to 1 pod.  minReplicas is allowed to be 0 if the alpha feature gate HPAScaleToZero is enabled and at least one Object or External metric is configured.  Scaling is active as long as at least one metric value is available.",
  "maxReplicas is the upper limit for the number of replicas to which the autoscaler can scale up. It cannot be less that minReplicas.",
  "currentReplicas is current number of replicas of pods managed by this autoscaler, as last seen by the autoscaler.",
  "value represents the integer value of this priority class. This is the actual priority that pods receive when they have the name of this class in their pod spec.",
  "globalDefault specifies whether this PriorityClass should be considered as the default priority for pods that do not have any priority class. Only one PriorityClass can be marked as `globalDefault`. However, if more than one PriorityClasses exists with their `globalDefault` field set to true, the smallest value of such global default PriorityClasses will be used as the default priority.",
  "preemptionPolicy is the Policy for preempting pods with lower priority. One of Never, PreemptLowerPriority. Defaults to PreemptLowerPriority if unset.",
  "RoleRef can only reference a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.",
  "Users in the clusterRoleBinding",
  "Groups in the clusterRoleBinding",
  "ServiceAccounts in the clusterRoleBinding",
  "RoleRef can reference a Role in the current namespace or a ClusterRole in the global namespace. If the RoleRef cannot be resolved, the Authorizer must return an error.",
  "Users in the roleBinding",
  "Groups in the roleBinding",
  "ServiceAccounts in the roleBinding",
  "holderIdentity contains the identity of the holder of a current lease. If Coordinated Leader Election is used, the holder identity must be equal to the elected LeaseCandidate.metadata.name field."
]
