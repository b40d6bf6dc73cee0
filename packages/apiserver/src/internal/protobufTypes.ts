/** How Go clients write built-in kinds, made by scripts/protobufTypes.ts from the types of k8s.io/api v0.36.3. Not to be edited. */

/** The message of each kind. */
export const kinds = `
apiextensions.k8s.io/v1 CustomResourceDefinition apiextensions.v1.CustomResourceDefinition
apps/v1 DaemonSet apps.v1.DaemonSet
apps/v1 Deployment apps.v1.Deployment
apps/v1 ReplicaSet apps.v1.ReplicaSet
apps/v1 StatefulSet apps.v1.StatefulSet
authentication.k8s.io/v1 SelfSubjectReview authentication.v1.SelfSubjectReview
authorization.k8s.io/v1 SelfSubjectAccessReview authorization.v1.SelfSubjectAccessReview
authorization.k8s.io/v1 SelfSubjectRulesReview authorization.v1.SelfSubjectRulesReview
autoscaling/v1 Scale autoscaling.v1.Scale
autoscaling/v2 HorizontalPodAutoscaler autoscaling.v2.HorizontalPodAutoscaler
batch/v1 CronJob batch.v1.CronJob
batch/v1 Job batch.v1.Job
coordination.k8s.io/v1 Lease coordination.v1.Lease
events.k8s.io/v1 Event events.v1.Event
networking.k8s.io/v1 Ingress networking.v1.Ingress
networking.k8s.io/v1 NetworkPolicy networking.v1.NetworkPolicy
policy/v1 PodDisruptionBudget policy.v1.PodDisruptionBudget
rbac.authorization.k8s.io/v1 ClusterRole rbac.v1.ClusterRole
rbac.authorization.k8s.io/v1 ClusterRoleBinding rbac.v1.ClusterRoleBinding
rbac.authorization.k8s.io/v1 Role rbac.v1.Role
rbac.authorization.k8s.io/v1 RoleBinding rbac.v1.RoleBinding
scheduling.k8s.io/v1 PriorityClass scheduling.v1.PriorityClass
v1 ConfigMap core.v1.ConfigMap
v1 Event core.v1.Event
v1 LimitRange core.v1.LimitRange
v1 Namespace core.v1.Namespace
v1 PersistentVolumeClaim core.v1.PersistentVolumeClaim
v1 Pod core.v1.Pod
v1 ResourceQuota core.v1.ResourceQuota
v1 Secret core.v1.Secret
v1 Service core.v1.Service
v1 ServiceAccount core.v1.ServiceAccount
`

/**
 * The fields of each message, in the order of JSON, as `name:number:type`. Without a name, its fields stand in its place. `?` is left out where it is empty,
 * `??` where it is zero. `*` may be absent, `[]` is a list, `{}` a map by strings; s is a string, b a bool, i and l whole numbers, d a number, y bytes.
 */
export const messages = `
apiextensions.v1.CustomResourceColumnDefinition name:1:s type:2:s format?:3:s description?:4:s priority?:5:i jsonPath:6:s
apiextensions.v1.CustomResourceConversion strategy:1:s webhook?:2:*apiextensions.v1.WebhookConversion
apiextensions.v1.CustomResourceDefinition metadata?:1:meta.v1.ObjectMeta spec:2:apiextensions.v1.CustomResourceDefinitionSpec status?:3:apiextensions.v1.CustomResourceDefinitionStatus
apiextensions.v1.CustomResourceDefinitionCondition type:1:s status:2:s lastTransitionTime?:3:meta.v1.Time reason?:4:s message?:5:s observedGeneration?:6:l
apiextensions.v1.CustomResourceDefinitionNames plural:1:s singular?:2:s shortNames?:3:[]s kind:4:s listKind?:5:s categories?:6:[]s
apiextensions.v1.CustomResourceDefinitionSpec group:1:s names:3:apiextensions.v1.CustomResourceDefinitionNames scope:4:s versions:7:[]apiextensions.v1.CustomResourceDefinitionVersion conversion?:9:*apiextensions.v1.CustomResourceConversion preserveUnknownFields?:10:b
apiextensions.v1.CustomResourceDefinitionStatus conditions:1:[]apiextensions.v1.CustomResourceDefinitionCondition acceptedNames:2:apiextensions.v1.CustomResourceDefinitionNames storedVersions:3:[]s observedGeneration?:4:l
apiextensions.v1.CustomResourceDefinitionVersion name:1:s served:2:b storage:3:b deprecated?:7:b deprecationWarning?:8:*s schema?:4:*apiextensions.v1.CustomResourceValidation subresources?:5:*apiextensions.v1.CustomResourceSubresources additionalPrinterColumns?:6:[]apiextensions.v1.CustomResourceColumnDefinition selectableFields?:9:[]apiextensions.v1.SelectableField
apiextensions.v1.CustomResourceSubresourceScale specReplicasPath:1:s statusReplicasPath:2:s labelSelectorPath?:3:*s
apiextensions.v1.CustomResourceSubresourceStatus
apiextensions.v1.CustomResourceSubresources status?:1:*apiextensions.v1.CustomResourceSubresourceStatus scale?:2:*apiextensions.v1.CustomResourceSubresourceScale
apiextensions.v1.CustomResourceValidation openAPIV3Schema?:1:*apiextensions.v1.JSONSchemaProps
apiextensions.v1.ExternalDocumentation description?:1:s url?:2:s
apiextensions.v1.JSON raw:1:y
apiextensions.v1.JSONSchemaProps id?:1:s $schema?:2:s $ref?:3:*s description?:4:s type?:5:s format?:6:s title?:7:s default?:8:*apiextensions.v1.JSON maximum?:9:*d exclusiveMaximum?:10:b minimum?:11:*d exclusiveMinimum?:12:b maxLength?:13:*l minLength?:14:*l pattern?:15:s maxItems?:16:*l minItems?:17:*l uniqueItems?:18:b multipleOf?:19:*d enum?:20:[]apiextensions.v1.JSON maxProperties?:21:*l minProperties?:22:*l required?:23:[]s items?:24:*apiextensions.v1.JSONSchemaPropsOrArray allOf?:25:[]apiextensions.v1.JSONSchemaProps oneOf?:26:[]apiextensions.v1.JSONSchemaProps anyOf?:27:[]apiextensions.v1.JSONSchemaProps not?:28:*apiextensions.v1.JSONSchemaProps properties?:29:{}apiextensions.v1.JSONSchemaProps additionalProperties?:30:*apiextensions.v1.JSONSchemaPropsOrBool patternProperties?:31:{}apiextensions.v1.JSONSchemaProps dependencies?:32:{}apiextensions.v1.JSONSchemaPropsOrStringArray additionalItems?:33:*apiextensions.v1.JSONSchemaPropsOrBool definitions?:34:{}apiextensions.v1.JSONSchemaProps externalDocs?:35:*apiextensions.v1.ExternalDocumentation example?:36:*apiextensions.v1.JSON nullable?:37:b x-kubernetes-preserve-unknown-fields?:38:*b x-kubernetes-embedded-resource?:39:b x-kubernetes-int-or-string?:40:b x-kubernetes-list-map-keys?:41:[]s x-kubernetes-list-type?:42:*s x-kubernetes-map-type?:43:*s x-kubernetes-validations?:44:[]apiextensions.v1.ValidationRule
apiextensions.v1.JSONSchemaPropsOrArray schema:1:*apiextensions.v1.JSONSchemaProps schemas:2:[]apiextensions.v1.JSONSchemaProps
apiextensions.v1.JSONSchemaPropsOrBool allows:1:b schema:2:*apiextensions.v1.JSONSchemaProps
apiextensions.v1.JSONSchemaPropsOrStringArray schema:1:*apiextensions.v1.JSONSchemaProps property:2:[]s
apiextensions.v1.SelectableField jsonPath:1:s
apiextensions.v1.ServiceReference namespace:1:s name:2:s path?:3:*s port?:4:*i
apiextensions.v1.ValidationRule rule:1:s message?:2:s messageExpression?:3:s reason?:4:*s fieldPath?:5:s optionalOldSelf?:6:*b
apiextensions.v1.WebhookClientConfig url?:3:*s service?:1:*apiextensions.v1.ServiceReference caBundle?:2:y
apiextensions.v1.WebhookConversion clientConfig?:2:*apiextensions.v1.WebhookClientConfig conversionReviewVersions:3:[]s
apps.v1.DaemonSet metadata?:1:meta.v1.ObjectMeta spec?:2:apps.v1.DaemonSetSpec status?:3:apps.v1.DaemonSetStatus
apps.v1.DaemonSetCondition type:1:s status:2:s lastTransitionTime?:3:meta.v1.Time reason?:4:s message?:5:s
apps.v1.DaemonSetSpec selector:1:*meta.v1.LabelSelector template:2:core.v1.PodTemplateSpec updateStrategy?:3:apps.v1.DaemonSetUpdateStrategy minReadySeconds?:4:i revisionHistoryLimit?:6:*i
apps.v1.DaemonSetStatus currentNumberScheduled:1:i numberMisscheduled:2:i desiredNumberScheduled:3:i numberReady:4:i observedGeneration?:5:l updatedNumberScheduled?:6:i numberAvailable?:7:i numberUnavailable?:8:i collisionCount?:9:*i conditions?:10:[]apps.v1.DaemonSetCondition
apps.v1.DaemonSetUpdateStrategy type?:1:s rollingUpdate?:2:*apps.v1.RollingUpdateDaemonSet
apps.v1.Deployment metadata?:1:meta.v1.ObjectMeta spec?:2:apps.v1.DeploymentSpec status?:3:apps.v1.DeploymentStatus
apps.v1.DeploymentCondition type:1:s status:2:s lastUpdateTime?:6:meta.v1.Time lastTransitionTime?:7:meta.v1.Time reason?:4:s message?:5:s
apps.v1.DeploymentSpec replicas?:1:*i selector:2:*meta.v1.LabelSelector template:3:core.v1.PodTemplateSpec strategy?:4:apps.v1.DeploymentStrategy minReadySeconds?:5:i revisionHistoryLimit?:6:*i paused?:7:b progressDeadlineSeconds?:9:*i
apps.v1.DeploymentStatus observedGeneration?:1:l replicas?:2:i updatedReplicas?:3:i readyReplicas?:7:i availableReplicas?:4:i unavailableReplicas?:5:i terminatingReplicas?:9:*i conditions?:6:[]apps.v1.DeploymentCondition collisionCount?:8:*i
apps.v1.DeploymentStrategy type?:1:s rollingUpdate?:2:*apps.v1.RollingUpdateDeployment
apps.v1.ReplicaSet metadata?:1:meta.v1.ObjectMeta spec?:2:apps.v1.ReplicaSetSpec status?:3:apps.v1.ReplicaSetStatus
apps.v1.ReplicaSetCondition type:1:s status:2:s lastTransitionTime?:3:meta.v1.Time reason?:4:s message?:5:s
apps.v1.ReplicaSetSpec replicas?:1:*i minReadySeconds?:4:i selector:2:*meta.v1.LabelSelector template?:3:core.v1.PodTemplateSpec
apps.v1.ReplicaSetStatus replicas:1:i fullyLabeledReplicas?:2:i readyReplicas?:4:i availableReplicas?:5:i terminatingReplicas?:7:*i observedGeneration?:3:l conditions?:6:[]apps.v1.ReplicaSetCondition
apps.v1.RollingUpdateDaemonSet maxUnavailable?:1:*intstr.IntOrString maxSurge?:2:*intstr.IntOrString
apps.v1.RollingUpdateDeployment maxUnavailable?:1:*intstr.IntOrString maxSurge?:2:*intstr.IntOrString
apps.v1.RollingUpdateStatefulSetStrategy partition?:1:*i maxUnavailable?:2:*intstr.IntOrString
apps.v1.StatefulSet metadata?:1:meta.v1.ObjectMeta spec?:2:apps.v1.StatefulSetSpec status?:3:apps.v1.StatefulSetStatus
apps.v1.StatefulSetCondition type:1:s status:2:s lastTransitionTime?:3:meta.v1.Time reason?:4:s message?:5:s
apps.v1.StatefulSetOrdinals start:1:i
apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy whenDeleted?:1:s whenScaled?:2:s
apps.v1.StatefulSetSpec replicas?:1:*i selector:2:*meta.v1.LabelSelector template:3:core.v1.PodTemplateSpec volumeClaimTemplates?:4:[]core.v1.PersistentVolumeClaim serviceName:5:s podManagementPolicy?:6:s updateStrategy?:7:apps.v1.StatefulSetUpdateStrategy revisionHistoryLimit?:8:*i minReadySeconds?:9:i persistentVolumeClaimRetentionPolicy?:10:*apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy ordinals?:11:*apps.v1.StatefulSetOrdinals
apps.v1.StatefulSetStatus observedGeneration?:1:l replicas:2:i readyReplicas?:3:i currentReplicas?:4:i updatedReplicas?:5:i currentRevision?:6:s updateRevision?:7:s collisionCount?:9:*i conditions?:10:[]apps.v1.StatefulSetCondition availableReplicas:11:i
apps.v1.StatefulSetUpdateStrategy type?:1:s rollingUpdate?:2:*apps.v1.RollingUpdateStatefulSetStrategy
authentication.v1.ExtraValue :1:[]s
authentication.v1.SelfSubjectReview metadata?:1:meta.v1.ObjectMeta status?:2:authentication.v1.SelfSubjectReviewStatus
authentication.v1.SelfSubjectReviewStatus userInfo?:1:authentication.v1.UserInfo
authentication.v1.UserInfo username?:1:s uid?:2:s groups?:3:[]s extra?:4:{}authentication.v1.ExtraValue
authorization.v1.FieldSelectorAttributes rawSelector?:1:s requirements?:2:[]meta.v1.FieldSelectorRequirement
authorization.v1.LabelSelectorAttributes rawSelector?:1:s requirements?:2:[]meta.v1.LabelSelectorRequirement
authorization.v1.NonResourceAttributes path?:1:s verb?:2:s
authorization.v1.NonResourceRule verbs:1:[]s nonResourceURLs?:2:[]s
authorization.v1.ResourceAttributes namespace?:1:s verb?:2:s group?:3:s version?:4:s resource?:5:s subresource?:6:s name?:7:s fieldSelector?:8:*authorization.v1.FieldSelectorAttributes labelSelector?:9:*authorization.v1.LabelSelectorAttributes
authorization.v1.ResourceRule verbs:1:[]s apiGroups?:2:[]s resources?:3:[]s resourceNames?:4:[]s
authorization.v1.SelfSubjectAccessReview metadata?:1:meta.v1.ObjectMeta spec:2:authorization.v1.SelfSubjectAccessReviewSpec status?:3:authorization.v1.SubjectAccessReviewStatus
authorization.v1.SelfSubjectAccessReviewSpec resourceAttributes?:1:*authorization.v1.ResourceAttributes nonResourceAttributes?:2:*authorization.v1.NonResourceAttributes
authorization.v1.SelfSubjectRulesReview metadata?:1:meta.v1.ObjectMeta spec:2:authorization.v1.SelfSubjectRulesReviewSpec status?:3:authorization.v1.SubjectRulesReviewStatus
authorization.v1.SelfSubjectRulesReviewSpec namespace?:1:s
authorization.v1.SubjectAccessReviewStatus allowed:1:b denied?:4:b reason?:2:s evaluationError?:3:s
authorization.v1.SubjectRulesReviewStatus resourceRules:1:[]authorization.v1.ResourceRule nonResourceRules:2:[]authorization.v1.NonResourceRule incomplete:3:b evaluationError?:4:s
autoscaling.v1.Scale metadata?:1:meta.v1.ObjectMeta spec?:2:autoscaling.v1.ScaleSpec status?:3:autoscaling.v1.ScaleStatus
autoscaling.v1.ScaleSpec replicas?:1:i
autoscaling.v1.ScaleStatus replicas:1:i selector?:2:s
autoscaling.v2.ContainerResourceMetricSource name:1:s target:2:autoscaling.v2.MetricTarget container:3:s
autoscaling.v2.ContainerResourceMetricStatus name:1:s current:2:autoscaling.v2.MetricValueStatus container:3:s
autoscaling.v2.CrossVersionObjectReference kind:1:s name:2:s apiVersion?:3:s
autoscaling.v2.ExternalMetricSource metric:1:autoscaling.v2.MetricIdentifier target:2:autoscaling.v2.MetricTarget
autoscaling.v2.ExternalMetricStatus metric:1:autoscaling.v2.MetricIdentifier current:2:autoscaling.v2.MetricValueStatus
autoscaling.v2.HPAScalingPolicy type:1:s value:2:i periodSeconds:3:i
autoscaling.v2.HPAScalingRules stabilizationWindowSeconds?:3:*i selectPolicy?:1:*s policies?:2:[]autoscaling.v2.HPAScalingPolicy tolerance?:4:*resource.Quantity
autoscaling.v2.HorizontalPodAutoscaler metadata?:1:meta.v1.ObjectMeta spec?:2:autoscaling.v2.HorizontalPodAutoscalerSpec status?:3:autoscaling.v2.HorizontalPodAutoscalerStatus
autoscaling.v2.HorizontalPodAutoscalerBehavior scaleUp?:1:*autoscaling.v2.HPAScalingRules scaleDown?:2:*autoscaling.v2.HPAScalingRules
autoscaling.v2.HorizontalPodAutoscalerCondition type:1:s status:2:s lastTransitionTime?:3:meta.v1.Time reason?:4:s message?:5:s
autoscaling.v2.HorizontalPodAutoscalerSpec scaleTargetRef:1:autoscaling.v2.CrossVersionObjectReference minReplicas?:2:*i maxReplicas:3:i metrics?:4:[]autoscaling.v2.MetricSpec behavior?:5:*autoscaling.v2.HorizontalPodAutoscalerBehavior
autoscaling.v2.HorizontalPodAutoscalerStatus observedGeneration?:1:*l lastScaleTime?:2:*meta.v1.Time currentReplicas?:3:i desiredReplicas:4:i currentMetrics:5:[]autoscaling.v2.MetricStatus conditions?:6:[]autoscaling.v2.HorizontalPodAutoscalerCondition
autoscaling.v2.MetricIdentifier name:1:s selector?:2:*meta.v1.LabelSelector
autoscaling.v2.MetricSpec type:1:s object?:2:*autoscaling.v2.ObjectMetricSource pods?:3:*autoscaling.v2.PodsMetricSource resource?:4:*autoscaling.v2.ResourceMetricSource containerResource?:7:*autoscaling.v2.ContainerResourceMetricSource external?:5:*autoscaling.v2.ExternalMetricSource
autoscaling.v2.MetricStatus type:1:s object?:2:*autoscaling.v2.ObjectMetricStatus pods?:3:*autoscaling.v2.PodsMetricStatus resource?:4:*autoscaling.v2.ResourceMetricStatus containerResource?:7:*autoscaling.v2.ContainerResourceMetricStatus external?:5:*autoscaling.v2.ExternalMetricStatus
autoscaling.v2.MetricTarget type:1:s value?:2:*resource.Quantity averageValue?:3:*resource.Quantity averageUtilization?:4:*i
autoscaling.v2.MetricValueStatus value?:1:*resource.Quantity averageValue?:2:*resource.Quantity averageUtilization?:3:*i
autoscaling.v2.ObjectMetricSource describedObject:1:autoscaling.v2.CrossVersionObjectReference target:2:autoscaling.v2.MetricTarget metric:3:autoscaling.v2.MetricIdentifier
autoscaling.v2.ObjectMetricStatus metric:1:autoscaling.v2.MetricIdentifier current:2:autoscaling.v2.MetricValueStatus describedObject:3:autoscaling.v2.CrossVersionObjectReference
autoscaling.v2.PodsMetricSource metric:1:autoscaling.v2.MetricIdentifier target:2:autoscaling.v2.MetricTarget
autoscaling.v2.PodsMetricStatus metric:1:autoscaling.v2.MetricIdentifier current:2:autoscaling.v2.MetricValueStatus
autoscaling.v2.ResourceMetricSource name:1:s target:2:autoscaling.v2.MetricTarget
autoscaling.v2.ResourceMetricStatus name:1:s current:2:autoscaling.v2.MetricValueStatus
batch.v1.CronJob metadata?:1:meta.v1.ObjectMeta spec?:2:batch.v1.CronJobSpec status?:3:batch.v1.CronJobStatus
batch.v1.CronJobSpec schedule:1:s timeZone?:8:*s startingDeadlineSeconds?:2:*l concurrencyPolicy?:3:s suspend?:4:*b jobTemplate:5:batch.v1.JobTemplateSpec successfulJobsHistoryLimit?:6:*i failedJobsHistoryLimit?:7:*i
batch.v1.CronJobStatus active?:1:[]core.v1.ObjectReference lastScheduleTime?:4:*meta.v1.Time lastSuccessfulTime?:5:*meta.v1.Time
batch.v1.Job metadata?:1:meta.v1.ObjectMeta spec?:2:batch.v1.JobSpec status?:3:batch.v1.JobStatus
batch.v1.JobCondition type:1:s status:2:s lastProbeTime?:3:meta.v1.Time lastTransitionTime?:4:meta.v1.Time reason?:5:s message?:6:s
batch.v1.JobSpec parallelism?:1:*i completions?:2:*i activeDeadlineSeconds?:3:*l podFailurePolicy?:11:*batch.v1.PodFailurePolicy successPolicy?:16:*batch.v1.SuccessPolicy backoffLimit?:7:*i backoffLimitPerIndex?:12:*i maxFailedIndexes?:13:*i selector?:4:*meta.v1.LabelSelector manualSelector?:5:*b template:6:core.v1.PodTemplateSpec ttlSecondsAfterFinished?:8:*i completionMode?:9:*s suspend?:10:*b podReplacementPolicy?:14:*s managedBy?:15:*s
batch.v1.JobStatus conditions?:1:[]batch.v1.JobCondition startTime?:2:*meta.v1.Time completionTime?:3:*meta.v1.Time active?:4:i succeeded?:5:i failed?:6:i terminating?:11:*i completedIndexes?:7:s failedIndexes?:10:*s uncountedTerminatedPods?:8:*batch.v1.UncountedTerminatedPods ready?:9:*i
batch.v1.JobTemplateSpec metadata?:1:meta.v1.ObjectMeta spec?:2:batch.v1.JobSpec
batch.v1.PodFailurePolicy rules:1:[]batch.v1.PodFailurePolicyRule
batch.v1.PodFailurePolicyOnExitCodesRequirement containerName?:1:*s operator:2:s values:3:[]i
batch.v1.PodFailurePolicyOnPodConditionsPattern type:1:s status:2:s
batch.v1.PodFailurePolicyRule action:1:s onExitCodes?:2:*batch.v1.PodFailurePolicyOnExitCodesRequirement onPodConditions?:3:[]batch.v1.PodFailurePolicyOnPodConditionsPattern
batch.v1.SuccessPolicy rules:1:[]batch.v1.SuccessPolicyRule
batch.v1.SuccessPolicyRule succeededIndexes?:1:*s succeededCount?:2:*i
batch.v1.UncountedTerminatedPods succeeded?:1:[]s failed?:2:[]s
coordination.v1.Lease metadata?:1:meta.v1.ObjectMeta spec?:2:coordination.v1.LeaseSpec
coordination.v1.LeaseSpec holderIdentity?:1:*s leaseDurationSeconds?:2:*i acquireTime?:3:*meta.v1.MicroTime renewTime?:4:*meta.v1.MicroTime leaseTransitions?:5:*i strategy?:6:*s preferredHolder?:7:*s
core.v1.AWSElasticBlockStoreVolumeSource volumeID:1:s fsType?:2:s partition?:3:i readOnly?:4:b
core.v1.Affinity nodeAffinity?:1:*core.v1.NodeAffinity podAffinity?:2:*core.v1.PodAffinity podAntiAffinity?:3:*core.v1.PodAntiAffinity
core.v1.AppArmorProfile type:1:s localhostProfile?:2:*s
core.v1.AzureDiskVolumeSource diskName:1:s diskURI:2:s cachingMode?:3:*s fsType?:4:*s readOnly?:5:*b kind?:6:*s
core.v1.AzureFileVolumeSource secretName:1:s shareName:2:s readOnly?:3:b
core.v1.CSIVolumeSource driver:1:s readOnly?:2:*b fsType?:3:*s volumeAttributes?:4:{}s nodePublishSecretRef?:5:*core.v1.LocalObjectReference
core.v1.Capabilities add?:1:[]s drop?:2:[]s
core.v1.CephFSVolumeSource monitors:1:[]s path?:2:s user?:3:s secretFile?:4:s secretRef?:5:*core.v1.LocalObjectReference readOnly?:6:b
core.v1.CinderVolumeSource volumeID:1:s fsType?:2:s readOnly?:3:b secretRef?:4:*core.v1.LocalObjectReference
core.v1.ClientIPConfig timeoutSeconds?:1:*i
core.v1.ClusterTrustBundleProjection name?:1:*s signerName?:2:*s labelSelector?:3:*meta.v1.LabelSelector optional?:5:*b path:4:s
core.v1.ConfigMap metadata?:1:meta.v1.ObjectMeta immutable?:4:*b data?:2:{}s binaryData?:3:{}y
core.v1.ConfigMapEnvSource :1:core.v1.LocalObjectReference optional?:2:*b
core.v1.ConfigMapKeySelector :1:core.v1.LocalObjectReference key:2:s optional?:3:*b
core.v1.ConfigMapProjection :1:core.v1.LocalObjectReference items?:2:[]core.v1.KeyToPath optional?:4:*b
core.v1.ConfigMapVolumeSource :1:core.v1.LocalObjectReference items?:2:[]core.v1.KeyToPath defaultMode?:3:*i optional?:4:*b
core.v1.Container name:1:s image?:2:s command?:3:[]s args?:4:[]s workingDir?:5:s ports?:6:[]core.v1.ContainerPort envFrom?:19:[]core.v1.EnvFromSource env?:7:[]core.v1.EnvVar resources?:8:core.v1.ResourceRequirements resizePolicy?:23:[]core.v1.ContainerResizePolicy restartPolicy?:24:*s restartPolicyRules?:25:[]core.v1.ContainerRestartRule volumeMounts?:9:[]core.v1.VolumeMount volumeDevices?:21:[]core.v1.VolumeDevice livenessProbe?:10:*core.v1.Probe readinessProbe?:11:*core.v1.Probe startupProbe?:22:*core.v1.Probe lifecycle?:12:*core.v1.Lifecycle terminationMessagePath?:13:s terminationMessagePolicy?:20:s imagePullPolicy?:14:s securityContext?:15:*core.v1.SecurityContext stdin?:16:b stdinOnce?:17:b tty?:18:b
core.v1.ContainerExtendedResourceRequest containerName:1:s resourceName:2:s requestName:3:s
core.v1.ContainerPort name?:1:s hostPort?:2:i containerPort:3:i protocol?:4:s hostIP?:5:s
core.v1.ContainerResizePolicy resourceName:1:s restartPolicy:2:s
core.v1.ContainerRestartRule action?:1:s exitCodes?:2:*core.v1.ContainerRestartRuleOnExitCodes
core.v1.ContainerRestartRuleOnExitCodes operator?:1:s values?:2:[]i
core.v1.ContainerState waiting?:1:*core.v1.ContainerStateWaiting running?:2:*core.v1.ContainerStateRunning terminated?:3:*core.v1.ContainerStateTerminated
core.v1.ContainerStateRunning startedAt?:1:meta.v1.Time
core.v1.ContainerStateTerminated exitCode:1:i signal?:2:i reason?:3:s message?:4:s startedAt?:5:meta.v1.Time finishedAt?:6:meta.v1.Time containerID?:7:s
core.v1.ContainerStateWaiting reason?:1:s message?:2:s
core.v1.ContainerStatus name:1:s state?:2:core.v1.ContainerState lastState?:3:core.v1.ContainerState ready:4:b restartCount:5:i image:6:s imageID:7:s containerID?:8:s started?:9:*b allocatedResources?:10:{}resource.Quantity resources?:11:*core.v1.ResourceRequirements volumeMounts?:12:[]core.v1.VolumeMountStatus user?:13:*core.v1.ContainerUser allocatedResourcesStatus?:14:[]core.v1.ResourceStatus stopSignal?:15:*s
core.v1.ContainerUser linux?:1:*core.v1.LinuxContainerUser
core.v1.DownwardAPIProjection items?:1:[]core.v1.DownwardAPIVolumeFile
core.v1.DownwardAPIVolumeFile path:1:s fieldRef?:2:*core.v1.ObjectFieldSelector resourceFieldRef?:3:*core.v1.ResourceFieldSelector mode?:4:*i
core.v1.DownwardAPIVolumeSource items?:1:[]core.v1.DownwardAPIVolumeFile defaultMode?:2:*i
core.v1.EmptyDirVolumeSource medium?:1:s sizeLimit?:2:*resource.Quantity
core.v1.EnvFromSource prefix?:1:s configMapRef?:2:*core.v1.ConfigMapEnvSource secretRef?:3:*core.v1.SecretEnvSource
core.v1.EnvVar name:1:s value?:2:s valueFrom?:3:*core.v1.EnvVarSource
core.v1.EnvVarSource fieldRef?:1:*core.v1.ObjectFieldSelector resourceFieldRef?:2:*core.v1.ResourceFieldSelector configMapKeyRef?:3:*core.v1.ConfigMapKeySelector secretKeyRef?:4:*core.v1.SecretKeySelector fileKeyRef?:5:*core.v1.FileKeySelector
core.v1.EphemeralContainer :1:core.v1.EphemeralContainerCommon targetContainerName?:2:s
core.v1.EphemeralContainerCommon name:1:s image?:2:s command?:3:[]s args?:4:[]s workingDir?:5:s ports?:6:[]core.v1.ContainerPort envFrom?:19:[]core.v1.EnvFromSource env?:7:[]core.v1.EnvVar resources?:8:core.v1.ResourceRequirements resizePolicy?:23:[]core.v1.ContainerResizePolicy restartPolicy?:24:*s restartPolicyRules?:25:[]core.v1.ContainerRestartRule volumeMounts?:9:[]core.v1.VolumeMount volumeDevices?:21:[]core.v1.VolumeDevice livenessProbe?:10:*core.v1.Probe readinessProbe?:11:*core.v1.Probe startupProbe?:22:*core.v1.Probe lifecycle?:12:*core.v1.Lifecycle terminationMessagePath?:13:s terminationMessagePolicy?:20:s imagePullPolicy?:14:s securityContext?:15:*core.v1.SecurityContext stdin?:16:b stdinOnce?:17:b tty?:18:b
core.v1.EphemeralVolumeSource volumeClaimTemplate?:1:*core.v1.PersistentVolumeClaimTemplate
core.v1.Event metadata:1:meta.v1.ObjectMeta involvedObject:2:core.v1.ObjectReference reason?:3:s message?:4:s source?:5:core.v1.EventSource firstTimestamp?:6:meta.v1.Time lastTimestamp?:7:meta.v1.Time count?:8:i type?:9:s eventTime?:10:meta.v1.MicroTime series?:11:*core.v1.EventSeries action?:12:s related?:13:*core.v1.ObjectReference reportingComponent:14:s reportingInstance:15:s
core.v1.EventSeries count?:1:i lastObservedTime?:2:meta.v1.MicroTime
core.v1.EventSource component?:1:s host?:2:s
core.v1.ExecAction command?:1:[]s
core.v1.FCVolumeSource targetWWNs?:1:[]s lun?:2:*i fsType?:3:s readOnly?:4:b wwids?:5:[]s
core.v1.FileKeySelector volumeName:1:s path:2:s key:3:s optional?:4:*b
core.v1.FlexVolumeSource driver:1:s fsType?:2:s secretRef?:3:*core.v1.LocalObjectReference readOnly?:4:b options?:5:{}s
core.v1.FlockerVolumeSource datasetName?:1:s datasetUUID?:2:s
core.v1.GCEPersistentDiskVolumeSource pdName:1:s fsType?:2:s partition?:3:i readOnly?:4:b
core.v1.GRPCAction port:1:i service:2:*s
core.v1.GitRepoVolumeSource repository:1:s revision?:2:s directory?:3:s
core.v1.GlusterfsVolumeSource endpoints:1:s path:2:s readOnly?:3:b
core.v1.HTTPGetAction path?:1:s port:2:intstr.IntOrString host?:3:s scheme?:4:s httpHeaders?:5:[]core.v1.HTTPHeader
core.v1.HTTPHeader name:1:s value:2:s
core.v1.HostAlias ip:1:s hostnames?:2:[]s
core.v1.HostIP ip:1:s
core.v1.HostPathVolumeSource path:1:s type?:2:*s
core.v1.ISCSIVolumeSource targetPortal:1:s iqn:2:s lun:3:i iscsiInterface?:4:s fsType?:5:s readOnly?:6:b portals?:7:[]s chapAuthDiscovery?:8:b chapAuthSession?:11:b secretRef?:10:*core.v1.LocalObjectReference initiatorName?:12:*s
core.v1.ImageVolumeSource reference?:1:s pullPolicy?:2:s
core.v1.ImageVolumeStatus imageRef?:1:s
core.v1.KeyToPath key:1:s path:2:s mode?:3:*i
core.v1.Lifecycle postStart?:1:*core.v1.LifecycleHandler preStop?:2:*core.v1.LifecycleHandler stopSignal?:3:*s
core.v1.LifecycleHandler exec?:1:*core.v1.ExecAction httpGet?:2:*core.v1.HTTPGetAction tcpSocket?:3:*core.v1.TCPSocketAction sleep?:4:*core.v1.SleepAction
core.v1.LimitRange metadata?:1:meta.v1.ObjectMeta spec?:2:core.v1.LimitRangeSpec
core.v1.LimitRangeItem type:1:s max?:2:{}resource.Quantity min?:3:{}resource.Quantity default?:4:{}resource.Quantity defaultRequest?:5:{}resource.Quantity maxLimitRequestRatio?:6:{}resource.Quantity
core.v1.LimitRangeSpec limits:1:[]core.v1.LimitRangeItem
core.v1.LinuxContainerUser uid:1:l gid:2:l supplementalGroups?:3:[]l
core.v1.LoadBalancerIngress ip?:1:s hostname?:2:s ipMode?:3:*s ports?:4:[]core.v1.PortStatus
core.v1.LoadBalancerStatus ingress?:1:[]core.v1.LoadBalancerIngress
core.v1.LocalObjectReference name?:1:s
core.v1.ModifyVolumeStatus targetVolumeAttributesClassName?:1:s status:2:s
core.v1.NFSVolumeSource server:1:s path:2:s readOnly?:3:b
core.v1.Namespace metadata?:1:meta.v1.ObjectMeta spec?:2:core.v1.NamespaceSpec status?:3:core.v1.NamespaceStatus
core.v1.NamespaceCondition type:1:s status:2:s lastTransitionTime?:4:meta.v1.Time reason?:5:s message?:6:s
core.v1.NamespaceSpec finalizers?:1:[]s
core.v1.NamespaceStatus phase?:1:s conditions?:2:[]core.v1.NamespaceCondition
core.v1.NodeAffinity requiredDuringSchedulingIgnoredDuringExecution?:1:*core.v1.NodeSelector preferredDuringSchedulingIgnoredDuringExecution?:2:[]core.v1.PreferredSchedulingTerm
core.v1.NodeAllocatableResourceClaimStatus resourceClaimName:1:s containers?:2:[]s resources:3:{}resource.Quantity
core.v1.NodeSelector nodeSelectorTerms:1:[]core.v1.NodeSelectorTerm
core.v1.NodeSelectorRequirement key:1:s operator:2:s values?:3:[]s
core.v1.NodeSelectorTerm matchExpressions?:1:[]core.v1.NodeSelectorRequirement matchFields?:2:[]core.v1.NodeSelectorRequirement
core.v1.ObjectFieldSelector apiVersion?:1:s fieldPath:2:s
core.v1.ObjectReference kind?:1:s namespace?:2:s name?:3:s uid?:4:s apiVersion?:5:s resourceVersion?:6:s fieldPath?:7:s
core.v1.PersistentVolumeClaim metadata?:1:meta.v1.ObjectMeta spec?:2:core.v1.PersistentVolumeClaimSpec status?:3:core.v1.PersistentVolumeClaimStatus
core.v1.PersistentVolumeClaimCondition type:1:s status:2:s lastProbeTime?:3:meta.v1.Time lastTransitionTime?:4:meta.v1.Time reason?:5:s message?:6:s
core.v1.PersistentVolumeClaimSpec accessModes?:1:[]s selector?:4:*meta.v1.LabelSelector resources?:2:core.v1.VolumeResourceRequirements volumeName?:3:s storageClassName?:5:*s volumeMode?:6:*s dataSource?:7:*core.v1.TypedLocalObjectReference dataSourceRef?:8:*core.v1.TypedObjectReference volumeAttributesClassName?:9:*s
core.v1.PersistentVolumeClaimStatus phase?:1:s accessModes?:2:[]s capacity?:3:{}resource.Quantity conditions?:4:[]core.v1.PersistentVolumeClaimCondition allocatedResources?:5:{}resource.Quantity allocatedResourceStatuses?:7:{}s currentVolumeAttributesClassName?:8:*s modifyVolumeStatus?:9:*core.v1.ModifyVolumeStatus
core.v1.PersistentVolumeClaimTemplate metadata?:1:meta.v1.ObjectMeta spec:2:core.v1.PersistentVolumeClaimSpec
core.v1.PersistentVolumeClaimVolumeSource claimName:1:s readOnly?:2:b
core.v1.PhotonPersistentDiskVolumeSource pdID:1:s fsType?:2:s
core.v1.Pod metadata?:1:meta.v1.ObjectMeta spec?:2:core.v1.PodSpec status?:3:core.v1.PodStatus
core.v1.PodAffinity requiredDuringSchedulingIgnoredDuringExecution?:1:[]core.v1.PodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution?:2:[]core.v1.WeightedPodAffinityTerm
core.v1.PodAffinityTerm labelSelector?:1:*meta.v1.LabelSelector namespaces?:2:[]s topologyKey:3:s namespaceSelector?:4:*meta.v1.LabelSelector matchLabelKeys?:5:[]s mismatchLabelKeys?:6:[]s
core.v1.PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution?:1:[]core.v1.PodAffinityTerm preferredDuringSchedulingIgnoredDuringExecution?:2:[]core.v1.WeightedPodAffinityTerm
core.v1.PodCertificateProjection signerName?:1:s keyType?:2:s maxExpirationSeconds?:3:*i credentialBundlePath?:4:s keyPath?:5:s certificateChainPath?:6:s userAnnotations?:7:{}s
core.v1.PodCondition type:1:s observedGeneration?:7:l status:2:s lastProbeTime?:3:meta.v1.Time lastTransitionTime?:4:meta.v1.Time reason?:5:s message?:6:s
core.v1.PodDNSConfig nameservers?:1:[]s searches?:2:[]s options?:3:[]core.v1.PodDNSConfigOption
core.v1.PodDNSConfigOption name?:1:s value?:2:*s
core.v1.PodExtendedResourceClaimStatus requestMappings:1:[]core.v1.ContainerExtendedResourceRequest resourceClaimName:2:s
core.v1.PodIP ip:1:s
core.v1.PodOS name:1:s
core.v1.PodReadinessGate conditionType:1:s
core.v1.PodResourceClaim name:1:s resourceClaimName?:3:*s resourceClaimTemplateName?:4:*s
core.v1.PodResourceClaimStatus name:1:s resourceClaimName?:2:*s
core.v1.PodSchedulingGate name:1:s
core.v1.PodSchedulingGroup podGroupName?:1:*s
core.v1.PodSecurityContext seLinuxOptions?:1:*core.v1.SELinuxOptions windowsOptions?:8:*core.v1.WindowsSecurityContextOptions runAsUser?:2:*l runAsGroup?:6:*l runAsNonRoot?:3:*b supplementalGroups?:4:[]l supplementalGroupsPolicy?:12:*s fsGroup?:5:*l sysctls?:7:[]core.v1.Sysctl fsGroupChangePolicy?:9:*s seccompProfile?:10:*core.v1.SeccompProfile appArmorProfile?:11:*core.v1.AppArmorProfile seLinuxChangePolicy?:13:*s
core.v1.PodSpec volumes?:1:[]core.v1.Volume initContainers?:20:[]core.v1.Container containers:2:[]core.v1.Container ephemeralContainers?:34:[]core.v1.EphemeralContainer restartPolicy?:3:s terminationGracePeriodSeconds?:4:*l activeDeadlineSeconds?:5:*l dnsPolicy?:6:s nodeSelector?:7:{}s serviceAccountName?:8:s serviceAccount?:9:s automountServiceAccountToken?:21:*b nodeName?:10:s hostNetwork?:11:b hostPID?:12:b hostIPC?:13:b shareProcessNamespace?:27:*b securityContext?:14:*core.v1.PodSecurityContext imagePullSecrets?:15:[]core.v1.LocalObjectReference hostname?:16:s subdomain?:17:s affinity?:18:*core.v1.Affinity schedulerName?:19:s tolerations?:22:[]core.v1.Toleration hostAliases?:23:[]core.v1.HostAlias priorityClassName?:24:s priority?:25:*i dnsConfig?:26:*core.v1.PodDNSConfig readinessGates?:28:[]core.v1.PodReadinessGate runtimeClassName?:29:*s enableServiceLinks?:30:*b preemptionPolicy?:31:*s overhead?:32:{}resource.Quantity topologySpreadConstraints?:33:[]core.v1.TopologySpreadConstraint setHostnameAsFQDN?:35:*b os?:36:*core.v1.PodOS hostUsers?:37:*b schedulingGates?:38:[]core.v1.PodSchedulingGate resourceClaims?:39:[]core.v1.PodResourceClaim resources?:40:*core.v1.ResourceRequirements hostnameOverride?:41:*s schedulingGroup?:43:*core.v1.PodSchedulingGroup
core.v1.PodStatus observedGeneration?:17:l phase?:1:s conditions?:2:[]core.v1.PodCondition message?:3:s reason?:4:s nominatedNodeName?:11:s hostIP?:5:s hostIPs?:16:[]core.v1.HostIP podIP?:6:s podIPs?:12:[]core.v1.PodIP startTime?:7:*meta.v1.Time initContainerStatuses?:10:[]core.v1.ContainerStatus containerStatuses?:8:[]core.v1.ContainerStatus qosClass?:9:s ephemeralContainerStatuses?:13:[]core.v1.ContainerStatus resize?:14:s resourceClaimStatuses?:15:[]core.v1.PodResourceClaimStatus extendedResourceClaimStatus?:18:*core.v1.PodExtendedResourceClaimStatus allocatedResources?:19:{}resource.Quantity resources?:20:*core.v1.ResourceRequirements nodeAllocatableResourceClaimStatuses?:21:[]core.v1.NodeAllocatableResourceClaimStatus
core.v1.PodTemplateSpec metadata?:1:meta.v1.ObjectMeta spec?:2:core.v1.PodSpec
core.v1.PortStatus port:1:i protocol:2:s error?:3:*s
core.v1.PortworxVolumeSource volumeID:1:s fsType?:2:s readOnly?:3:b
core.v1.PreferredSchedulingTerm weight:1:i preference:2:core.v1.NodeSelectorTerm
core.v1.Probe :1:core.v1.ProbeHandler initialDelaySeconds?:2:i timeoutSeconds?:3:i periodSeconds?:4:i successThreshold?:5:i failureThreshold?:6:i terminationGracePeriodSeconds?:7:*l
core.v1.ProbeHandler exec?:1:*core.v1.ExecAction httpGet?:2:*core.v1.HTTPGetAction tcpSocket?:3:*core.v1.TCPSocketAction grpc?:4:*core.v1.GRPCAction
core.v1.ProjectedVolumeSource sources:1:[]core.v1.VolumeProjection defaultMode?:2:*i
core.v1.QuobyteVolumeSource registry:1:s volume:2:s readOnly?:3:b user?:4:s group?:5:s tenant?:6:s
core.v1.RBDVolumeSource monitors:1:[]s image:2:s fsType?:3:s pool?:4:s user?:5:s keyring?:6:s secretRef?:7:*core.v1.LocalObjectReference readOnly?:8:b
core.v1.ResourceClaim name:1:s request?:2:s
core.v1.ResourceFieldSelector containerName?:1:s resource:2:s divisor?:3:resource.Quantity
core.v1.ResourceHealth resourceID:1:s health?:2:s message?:6:*s
core.v1.ResourceQuota metadata?:1:meta.v1.ObjectMeta spec?:2:core.v1.ResourceQuotaSpec status?:3:core.v1.ResourceQuotaStatus
core.v1.ResourceQuotaSpec hard?:1:{}resource.Quantity scopes?:2:[]s scopeSelector?:3:*core.v1.ScopeSelector
core.v1.ResourceQuotaStatus hard?:1:{}resource.Quantity used?:2:{}resource.Quantity
core.v1.ResourceRequirements limits?:1:{}resource.Quantity requests?:2:{}resource.Quantity claims?:3:[]core.v1.ResourceClaim
core.v1.ResourceStatus name:1:s resources?:2:[]core.v1.ResourceHealth
core.v1.SELinuxOptions user?:1:s role?:2:s type?:3:s level?:4:s
core.v1.ScaleIOVolumeSource gateway:1:s system:2:s secretRef:3:*core.v1.LocalObjectReference sslEnabled?:4:b protectionDomain?:5:s storagePool?:6:s storageMode?:7:s volumeName?:8:s fsType?:9:s readOnly?:10:b
core.v1.ScopeSelector matchExpressions?:1:[]core.v1.ScopedResourceSelectorRequirement
core.v1.ScopedResourceSelectorRequirement scopeName:1:s operator:2:s values?:3:[]s
core.v1.SeccompProfile type:1:s localhostProfile?:2:*s
core.v1.Secret metadata?:1:meta.v1.ObjectMeta immutable?:5:*b data?:2:{}y stringData?:4:{}s type?:3:s
core.v1.SecretEnvSource :1:core.v1.LocalObjectReference optional?:2:*b
core.v1.SecretKeySelector :1:core.v1.LocalObjectReference key:2:s optional?:3:*b
core.v1.SecretProjection :1:core.v1.LocalObjectReference items?:2:[]core.v1.KeyToPath optional?:4:*b
core.v1.SecretVolumeSource secretName?:1:s items?:2:[]core.v1.KeyToPath defaultMode?:3:*i optional?:4:*b
core.v1.SecurityContext capabilities?:1:*core.v1.Capabilities privileged?:2:*b seLinuxOptions?:3:*core.v1.SELinuxOptions windowsOptions?:10:*core.v1.WindowsSecurityContextOptions runAsUser?:4:*l runAsGroup?:8:*l runAsNonRoot?:5:*b readOnlyRootFilesystem?:6:*b allowPrivilegeEscalation?:7:*b procMount?:9:*s seccompProfile?:11:*core.v1.SeccompProfile appArmorProfile?:12:*core.v1.AppArmorProfile
core.v1.Service metadata?:1:meta.v1.ObjectMeta spec?:2:core.v1.ServiceSpec status?:3:core.v1.ServiceStatus
core.v1.ServiceAccount metadata?:1:meta.v1.ObjectMeta secrets?:2:[]core.v1.ObjectReference imagePullSecrets?:3:[]core.v1.LocalObjectReference automountServiceAccountToken?:4:*b
core.v1.ServiceAccountTokenProjection audience?:1:s expirationSeconds?:2:*l path:3:s
core.v1.ServicePort name?:1:s protocol?:2:s appProtocol?:6:*s port:3:i targetPort?:4:intstr.IntOrString nodePort?:5:i
core.v1.ServiceSpec ports?:1:[]core.v1.ServicePort selector?:2:{}s clusterIP?:3:s clusterIPs?:18:[]s type?:4:s externalIPs?:5:[]s sessionAffinity?:7:s loadBalancerIP?:8:s loadBalancerSourceRanges?:9:[]s externalName?:10:s externalTrafficPolicy?:11:s healthCheckNodePort?:12:i publishNotReadyAddresses?:13:b sessionAffinityConfig?:14:*core.v1.SessionAffinityConfig ipFamilies?:19:[]s ipFamilyPolicy?:17:*s allocateLoadBalancerNodePorts?:20:*b loadBalancerClass?:21:*s internalTrafficPolicy?:22:*s trafficDistribution?:23:*s
core.v1.ServiceStatus loadBalancer?:1:core.v1.LoadBalancerStatus conditions?:2:[]meta.v1.Condition
core.v1.SessionAffinityConfig clientIP?:1:*core.v1.ClientIPConfig
core.v1.SleepAction seconds:1:l
core.v1.StorageOSVolumeSource volumeName?:1:s volumeNamespace?:2:s fsType?:3:s readOnly?:4:b secretRef?:5:*core.v1.LocalObjectReference
core.v1.Sysctl name:1:s value:2:s
core.v1.TCPSocketAction port:1:intstr.IntOrString host?:2:s
core.v1.Toleration key?:1:s operator?:2:s value?:3:s effect?:4:s tolerationSeconds?:5:*l
core.v1.TopologySpreadConstraint maxSkew:1:i topologyKey:2:s whenUnsatisfiable:3:s labelSelector?:4:*meta.v1.LabelSelector minDomains?:5:*i nodeAffinityPolicy?:6:*s nodeTaintsPolicy?:7:*s matchLabelKeys?:8:[]s
core.v1.TypedLocalObjectReference apiGroup:1:*s kind:2:s name:3:s
core.v1.TypedObjectReference apiGroup:1:*s kind:2:s name:3:s namespace?:4:*s
core.v1.Volume name:1:s :2:core.v1.VolumeSource
core.v1.VolumeDevice name:1:s devicePath:2:s
core.v1.VolumeMount name:1:s readOnly?:2:b recursiveReadOnly?:7:*s mountPath:3:s subPath?:4:s mountPropagation?:5:*s subPathExpr?:6:s
core.v1.VolumeMountStatus name:1:s mountPath:2:s readOnly?:3:b recursiveReadOnly?:4:*s volumeStatus?:5:*core.v1.VolumeStatus
core.v1.VolumeProjection secret?:1:*core.v1.SecretProjection downwardAPI?:2:*core.v1.DownwardAPIProjection configMap?:3:*core.v1.ConfigMapProjection serviceAccountToken?:4:*core.v1.ServiceAccountTokenProjection clusterTrustBundle?:5:*core.v1.ClusterTrustBundleProjection podCertificate?:6:*core.v1.PodCertificateProjection
core.v1.VolumeResourceRequirements limits?:1:{}resource.Quantity requests?:2:{}resource.Quantity
core.v1.VolumeSource hostPath?:1:*core.v1.HostPathVolumeSource emptyDir?:2:*core.v1.EmptyDirVolumeSource gcePersistentDisk?:3:*core.v1.GCEPersistentDiskVolumeSource awsElasticBlockStore?:4:*core.v1.AWSElasticBlockStoreVolumeSource gitRepo?:5:*core.v1.GitRepoVolumeSource secret?:6:*core.v1.SecretVolumeSource nfs?:7:*core.v1.NFSVolumeSource iscsi?:8:*core.v1.ISCSIVolumeSource glusterfs?:9:*core.v1.GlusterfsVolumeSource persistentVolumeClaim?:10:*core.v1.PersistentVolumeClaimVolumeSource rbd?:11:*core.v1.RBDVolumeSource flexVolume?:12:*core.v1.FlexVolumeSource cinder?:13:*core.v1.CinderVolumeSource cephfs?:14:*core.v1.CephFSVolumeSource flocker?:15:*core.v1.FlockerVolumeSource downwardAPI?:16:*core.v1.DownwardAPIVolumeSource fc?:17:*core.v1.FCVolumeSource azureFile?:18:*core.v1.AzureFileVolumeSource configMap?:19:*core.v1.ConfigMapVolumeSource vsphereVolume?:20:*core.v1.VsphereVirtualDiskVolumeSource quobyte?:21:*core.v1.QuobyteVolumeSource azureDisk?:22:*core.v1.AzureDiskVolumeSource photonPersistentDisk?:23:*core.v1.PhotonPersistentDiskVolumeSource projected?:26:*core.v1.ProjectedVolumeSource portworxVolume?:24:*core.v1.PortworxVolumeSource scaleIO?:25:*core.v1.ScaleIOVolumeSource storageos?:27:*core.v1.StorageOSVolumeSource csi?:28:*core.v1.CSIVolumeSource ephemeral?:29:*core.v1.EphemeralVolumeSource image?:30:*core.v1.ImageVolumeSource
core.v1.VolumeStatus image?:1:*core.v1.ImageVolumeStatus
core.v1.VsphereVirtualDiskVolumeSource volumePath:1:s fsType?:2:s storagePolicyName?:3:s storagePolicyID?:4:s
core.v1.WeightedPodAffinityTerm weight:1:i podAffinityTerm:2:core.v1.PodAffinityTerm
core.v1.WindowsSecurityContextOptions gmsaCredentialSpecName?:1:*s gmsaCredentialSpec?:2:*s runAsUserName?:3:*s hostProcess?:4:*b
events.v1.Event metadata:1:meta.v1.ObjectMeta eventTime:2:meta.v1.MicroTime series?:3:*events.v1.EventSeries reportingController?:4:s reportingInstance?:5:s action?:6:s reason?:7:s regarding?:8:core.v1.ObjectReference related?:9:*core.v1.ObjectReference note?:10:s type?:11:s deprecatedSource?:12:core.v1.EventSource deprecatedFirstTimestamp?:13:meta.v1.Time deprecatedLastTimestamp?:14:meta.v1.Time deprecatedCount?:15:i
events.v1.EventSeries count:1:i lastObservedTime:2:meta.v1.MicroTime
intstr.IntOrString type:1:i intVal:2:i strVal:3:s
meta.v1.Condition type:1:s status:2:s observedGeneration?:3:l lastTransitionTime:4:meta.v1.Time reason:5:s message:6:s
meta.v1.DeleteOptions gracePeriodSeconds?:1:*l preconditions?:2:*meta.v1.Preconditions orphanDependents?:3:*b propagationPolicy?:4:*s dryRun?:5:[]s ignoreStoreReadErrorWithClusterBreakingPotential?:6:*b
meta.v1.FieldSelectorRequirement key:1:s operator:2:s values?:3:[]s
meta.v1.FieldsV1 raw:1:y
meta.v1.LabelSelector matchLabels?:1:{}s matchExpressions?:2:[]meta.v1.LabelSelectorRequirement
meta.v1.LabelSelectorRequirement key:1:s operator:2:s values?:3:[]s
meta.v1.ListMeta selfLink?:1:s resourceVersion?:2:s continue?:3:s remainingItemCount?:4:*l shardInfo?:5:*meta.v1.ShardInfo
meta.v1.ManagedFieldsEntry manager?:1:s operation?:2:s apiVersion?:3:s time?:4:*meta.v1.Time fieldsType?:6:s fieldsV1?:7:*meta.v1.FieldsV1 subresource?:8:s
meta.v1.MicroTime seconds:1:l nanos:2:i
meta.v1.ObjectMeta name?:1:s generateName?:2:s namespace?:3:s selfLink?:4:s uid?:5:s resourceVersion?:6:s generation?:7:l creationTimestamp??:8:meta.v1.Time deletionTimestamp?:9:*meta.v1.Time deletionGracePeriodSeconds?:10:*l labels?:11:{}s annotations?:12:{}s ownerReferences?:13:[]meta.v1.OwnerReference finalizers?:14:[]s managedFields?:17:[]meta.v1.ManagedFieldsEntry
meta.v1.OwnerReference apiVersion:5:s kind:1:s name:3:s uid:4:s controller?:6:*b blockOwnerDeletion?:7:*b
meta.v1.Preconditions uid?:1:*s resourceVersion?:2:*s
meta.v1.ShardInfo selector:1:s
meta.v1.Status metadata?:1:meta.v1.ListMeta status?:2:s message?:3:s reason?:4:s details?:5:*meta.v1.StatusDetails code?:6:i
meta.v1.StatusCause reason?:1:s message?:2:s field?:3:s
meta.v1.StatusDetails name?:1:s group?:2:s kind?:3:s uid?:6:s causes?:4:[]meta.v1.StatusCause retryAfterSeconds?:5:i
meta.v1.Time seconds:1:l nanos:2:i
networking.v1.HTTPIngressPath path?:1:s pathType:3:*s backend:2:networking.v1.IngressBackend
networking.v1.HTTPIngressRuleValue paths:1:[]networking.v1.HTTPIngressPath
networking.v1.IPBlock cidr:1:s except?:2:[]s
networking.v1.Ingress metadata?:1:meta.v1.ObjectMeta spec?:2:networking.v1.IngressSpec status?:3:networking.v1.IngressStatus
networking.v1.IngressBackend service?:4:*networking.v1.IngressServiceBackend resource?:3:*core.v1.TypedLocalObjectReference
networking.v1.IngressLoadBalancerIngress ip?:1:s hostname?:2:s ports?:4:[]networking.v1.IngressPortStatus
networking.v1.IngressLoadBalancerStatus ingress?:1:[]networking.v1.IngressLoadBalancerIngress
networking.v1.IngressPortStatus port:1:i protocol:2:s error?:3:*s
networking.v1.IngressRule host?:1:s :2:networking.v1.IngressRuleValue
networking.v1.IngressRuleValue http?:1:*networking.v1.HTTPIngressRuleValue
networking.v1.IngressServiceBackend name:1:s port?:2:networking.v1.ServiceBackendPort
networking.v1.IngressSpec ingressClassName?:4:*s defaultBackend?:1:*networking.v1.IngressBackend tls?:2:[]networking.v1.IngressTLS rules?:3:[]networking.v1.IngressRule
networking.v1.IngressStatus loadBalancer?:1:networking.v1.IngressLoadBalancerStatus
networking.v1.IngressTLS hosts?:1:[]s secretName?:2:s
networking.v1.NetworkPolicy metadata?:1:meta.v1.ObjectMeta spec?:2:networking.v1.NetworkPolicySpec
networking.v1.NetworkPolicyEgressRule ports?:1:[]networking.v1.NetworkPolicyPort to?:2:[]networking.v1.NetworkPolicyPeer
networking.v1.NetworkPolicyIngressRule ports?:1:[]networking.v1.NetworkPolicyPort from?:2:[]networking.v1.NetworkPolicyPeer
networking.v1.NetworkPolicyPeer podSelector?:1:*meta.v1.LabelSelector namespaceSelector?:2:*meta.v1.LabelSelector ipBlock?:3:*networking.v1.IPBlock
networking.v1.NetworkPolicyPort protocol?:1:*s port?:2:*intstr.IntOrString endPort?:3:*i
networking.v1.NetworkPolicySpec podSelector:1:meta.v1.LabelSelector ingress?:2:[]networking.v1.NetworkPolicyIngressRule egress?:3:[]networking.v1.NetworkPolicyEgressRule policyTypes?:4:[]s
networking.v1.ServiceBackendPort name?:1:s number?:2:i
policy.v1.PodDisruptionBudget metadata?:1:meta.v1.ObjectMeta spec?:2:policy.v1.PodDisruptionBudgetSpec status?:3:policy.v1.PodDisruptionBudgetStatus
policy.v1.PodDisruptionBudgetSpec minAvailable?:1:*intstr.IntOrString selector?:2:*meta.v1.LabelSelector maxUnavailable?:3:*intstr.IntOrString unhealthyPodEvictionPolicy?:4:*s
policy.v1.PodDisruptionBudgetStatus observedGeneration?:1:l disruptedPods?:2:{}meta.v1.Time disruptionsAllowed:3:i currentHealthy:4:i desiredHealthy:5:i expectedPods:6:i conditions?:7:[]meta.v1.Condition
rbac.v1.AggregationRule clusterRoleSelectors?:1:[]meta.v1.LabelSelector
rbac.v1.ClusterRole metadata?:1:meta.v1.ObjectMeta rules:2:[]rbac.v1.PolicyRule aggregationRule?:3:*rbac.v1.AggregationRule
rbac.v1.ClusterRoleBinding metadata?:1:meta.v1.ObjectMeta subjects?:2:[]rbac.v1.Subject roleRef:3:rbac.v1.RoleRef
rbac.v1.PolicyRule verbs:1:[]s apiGroups?:2:[]s resources?:3:[]s resourceNames?:4:[]s nonResourceURLs?:5:[]s
rbac.v1.Role metadata?:1:meta.v1.ObjectMeta rules:2:[]rbac.v1.PolicyRule
rbac.v1.RoleBinding metadata?:1:meta.v1.ObjectMeta subjects?:2:[]rbac.v1.Subject roleRef:3:rbac.v1.RoleRef
rbac.v1.RoleRef apiGroup:1:s kind:2:s name:3:s
rbac.v1.Subject kind:1:s apiGroup?:2:s name:3:s namespace?:4:s
resource.Quantity string:1:s
scheduling.v1.PriorityClass metadata?:1:meta.v1.ObjectMeta value:2:i globalDefault?:3:b description?:4:s preemptionPolicy?:5:*s
`
