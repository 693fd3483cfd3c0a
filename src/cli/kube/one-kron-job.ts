/** The KronJob that a command is about, in the cluster that kubectl would use. */
import { exitStatusOf } from "../../core/base/errors/exit-status.js";
import { KronError } from "../../core/base/errors/kron-error.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { definitionOf, problemText } from "../../operator/definition.js";
import { kronJobPath } from "../../operator/gateway.js";
import { GROUP, PLURAL } from "../../operator/identity.js";
import { KubeClient } from "../../operator/kube/client.js";
import { loadClusterConfig } from "../../operator/kube/config.js";
import { ApiFailure } from "../../operator/kube/failure.js";
import type { KronJob } from "../../operator/kube/types.js";
import type { ParsedArgs } from "../args.js";
import { CliError, EXIT, usageError } from "../exit.js";
import type { CliIo } from "../io.js";

interface Target {
  readonly namespace: string;
  readonly name: string;
  read(): Promise<KronJob>;
  annotate(annotations: Readonly<Record<string, string | null>>): Promise<void>;
}

/** `NAME`, or `NAMESPACE/NAME`; the connection is closed when the work is done, whatever became of it. */
export async function withKronJob<T>(
  written: string,
  args: ParsedArgs,
  io: CliIo,
  work: (target: Target) => Promise<T>,
): Promise<T> {
  const slash = written.indexOf("/");
  const [given, name] =
    slash < 0 ? [args.text("namespace"), written] : [written.slice(0, slash), written.slice(slash + 1)];
  try {
    const config = loadClusterConfig({ kubeconfig: args.text("kubeconfig"), context: args.text("context") }, io.env);
    const client = new KubeClient(config);
    try {
      return await work(targetOf(client, given ?? config.namespace, name));
    } finally {
      client.close();
    }
  } catch (error) {
    throw error instanceof KronError ? new CliError(exitStatusOf(error.code), error.message, error.hint) : error;
  }
}

function targetOf(client: KubeClient, namespace: string, name: string): Target {
  const path = kronJobPath(namespace, name);
  const attempt = async <T>(method: "GET" | "PATCH", operation: string, body?: unknown): Promise<T> => {
    try {
      return await client.send<T>({ method, path, operation, namespace, ...(body === undefined ? {} : { body }) });
    } catch (error) {
      if (!(error instanceof ApiFailure && error.isGone)) throw error;
      throw usageError(
        `there is no KronJob ${name} in namespace ${namespace}`,
        "kubectl get kronjobs --all-namespaces",
      );
    }
  };
  return {
    namespace,
    name,
    read: () => attempt<KronJob>("GET", `get ${PLURAL}.${GROUP}`),
    annotate: async (annotations) => {
      await attempt("PATCH", `patch ${PLURAL}.${GROUP}`, { metadata: { annotations } });
    },
  };
}

/** Trouble in the words of lint: the operator marks such a KronJob InvalidSpec. */
export function soundDefinition(kronJob: KronJob): JobDefinition {
  const definition = definitionOf(kronJob);
  if (definition.ok) return definition.value;
  const { namespace, name } = kronJob.metadata;
  throw new CliError(EXIT.configuration, `${namespace}/${name}: ${definition.error.map(problemText).join("; ")}`);
}
