/** What the server prints of the built-in kinds: its own columns, and cells that are made as it makes them (F50). */
import type { Resource } from "@fixpoint/core/KubeObject"
import type { Cells } from "./cells.ts"
import * as Cluster from "./clusterCells.ts"
import type { Printer, TableColumn } from "./definition.ts"
import { toCore } from "./events.ts"
import { podRow } from "./podCells.ts"
import { plainPrinter } from "./printerColumns.ts"
import { columns, descriptions } from "./tableColumnData.ts"
import * as Workload from "./workloadCells.ts"

const cells: Readonly<Record<string, Cells>> = {
  "apps/v1 DaemonSet": Workload.daemonSet,
  "apps/v1 Deployment": Workload.deployment,
  "apps/v1 ReplicaSet": Workload.replicaSet,
  "apps/v1 StatefulSet": Workload.statefulSet,
  "autoscaling/v2 HorizontalPodAutoscaler": Workload.horizontalPodAutoscaler,
  "batch/v1 CronJob": Workload.cronJob,
  "batch/v1 Job": Workload.job,
  "coordination.k8s.io/v1 Lease": Cluster.lease,
  "events.k8s.io/v1 Event": (event, now) => Cluster.event(toCore(event), now),
  "networking.k8s.io/v1 Ingress": Cluster.ingress,
  "networking.k8s.io/v1 NetworkPolicy": Cluster.networkPolicy,
  "policy/v1 PodDisruptionBudget": Workload.podDisruptionBudget,
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding": Cluster.binding,
  "rbac.authorization.k8s.io/v1 RoleBinding": Cluster.binding,
  "scheduling.k8s.io/v1 PriorityClass": Cluster.priorityClass,
  "v1 ConfigMap": Cluster.configMap,
  "v1 Event": Cluster.event,
  "v1 Namespace": Cluster.namespace,
  "v1 PersistentVolumeClaim": Workload.persistentVolumeClaim,
  "v1 ResourceQuota": Cluster.resourceQuota,
  "v1 Secret": Cluster.secret,
  "v1 Service": Cluster.service,
  "v1 ServiceAccount": Cluster.serviceAccount
}

const columnsOf = (kind: string): ReadonlyArray<TableColumn> =>
  (JSON.parse(columns[kind] ?? "[]") as ReadonlyArray<TableColumn & { readonly description: unknown }>).map(
    (column) => ({ ...column, description: descriptions[Number(column.description)]! })
  )

/** Kinds of which nobody wrote more show Name and Created At. */
export const builtInPrinter = ({ group, kind, version }: Pick<Resource, "group" | "kind" | "version">): Printer => {
  const name = `${group === "" ? version : `${group}/${version}`} ${kind}`
  const own = cells[name]
  const row: Printer["row"] | undefined =
    name === "v1 Pod" ? podRow : own === undefined ? undefined : (object, now) => ({ cells: own(object, now) })
  if (row === undefined) return plainPrinter
  let known: ReadonlyArray<TableColumn> | undefined
  return {
    get columns() {
      known ??= columnsOf(name)
      return known
    },
    row
  }
}
