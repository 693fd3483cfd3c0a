import type { OptionSpec } from "../../args.js";
import type { CommandSpec } from "../../command.js";

export const CLUSTER_OPTIONS: readonly OptionSpec[] = [
  {
    name: "kubeconfig",
    value: "PATH",
    help: "how to reach the cluster (default: $KUBECONFIG, the pod's account, ~/.kube/config)",
  },
  { name: "context", value: "NAME", help: "context of the kubeconfig (default: its current one)" },
];

export const OPERATOR: CommandSpec = {
  name: "operator",
  summary: "run KronJobs on Kubernetes",
  usage: "[OPTIONS]",
  details: `
Runs the Kubernetes operator in the foreground, in a pod or anywhere a kubeconfig leads to the cluster. Any number of them
may run at once: at most one Job is started for each period, whatever fails. SIGTERM brings what was claimed to its end
and gives the Lease back.

  kubectl apply -f deploy/operator/crd.yaml && kron operator --namespace team-a`,
  options: [
    ...CLUSTER_OPTIONS,
    { name: "namespace", value: "NAME", repeats: true, help: "look after this namespace only (default: all)" },
    { name: "lease-namespace", value: "NAME", help: "where the Lease is (default: $POD_NAMESPACE, or the context's)" },
    { name: "no-lease", help: "act at once, whoever else does; needs no right on leases" },
    {
      name: "standby-delay",
      value: "DURATION",
      help: "how long to leave a due period to the holder of the Lease (default: 2s)",
    },
    { name: "metrics", value: "[HOST:]PORT", help: "serve /metrics, /healthz and /readyz there (default: nowhere)" },
    { name: "metrics-per-kronjob", help: "count outcomes and runs also by namespace and name of the KronJob" },
    { name: "log-format", value: "text|json", help: "form of the log (default: text on a terminal, else json)" },
  ],
};
