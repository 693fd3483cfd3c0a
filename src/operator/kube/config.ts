/**
 * How to reach a cluster: from inside a pod, or by a kubeconfig as kubectl reads it. What Kron does not do (proxies,
 * auth-provider plugins) is refused by name rather than left out silently.
 */
import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join, resolve } from "node:path";
import { parse } from "yaml";
import { KronError } from "../../core/base/errors/kron-error.js";
import { type Credentials, execCredentials, fixedCredentials, tokenFile } from "./credentials.js";

export interface ClusterConfig {
  readonly server: URL;
  /** Of the context, or of the pod. */
  readonly namespace: string;
  readonly tls: {
    readonly ca?: Buffer;
    readonly servername?: string;
    readonly rejectUnauthorized: boolean;
  };
  readonly credentials: Credentials;
}

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

interface ConfigChoice {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
}

/** A kubeconfig that was named wins; then the pod's own account; then where kubectl looks. */
export function loadClusterConfig(
  choice: ConfigChoice,
  env: Readonly<Record<string, string | undefined>>,
): ClusterConfig {
  const named = choice.kubeconfig ?? env["KUBECONFIG"];
  if (named === undefined && choice.context === undefined && env["KUBERNETES_SERVICE_HOST"]) return inCluster(env);
  const home = env["HOME"] ?? homedir();
  const paths = (named ?? join(home, ".kube", "config")).split(delimiter).filter((path) => path !== "");
  return fromKubeconfig(paths, choice.context ?? null, env);
}

function inCluster(env: Readonly<Record<string, string | undefined>>): ClusterConfig {
  const host = env["KUBERNETES_SERVICE_HOST"] ?? "";
  const port = env["KUBERNETES_SERVICE_PORT"] ?? "443";
  return {
    server: new URL(`https://${host.includes(":") ? `[${host}]` : host}:${port}`),
    namespace: readText(join(ACCOUNT, "namespace")).trim(),
    tls: { ca: readBytes(join(ACCOUNT, "ca.crt")), rejectUnauthorized: true },
    credentials: tokenFile(join(ACCOUNT, "token")),
  };
}

type Fields = Readonly<Record<string, unknown>>;

interface Entry extends Fields {
  /** Relative paths are relative to the file they stand in. */
  readonly directory: string;
}

function fromKubeconfig(
  paths: readonly string[],
  contextName: string | null,
  env: Readonly<Record<string, string | undefined>>,
): ClusterConfig {
  const files = paths.map((path) => ({ path, content: parsed(path) }));
  const find = (list: string, field: string, name: unknown): Entry => {
    for (const { path, content } of files) {
      const entries = Array.isArray(content[list]) ? (content[list] as readonly Fields[]) : [];
      const found = entries.find((entry) => entry["name"] === name);
      if (found !== undefined) return { ...fieldsOf(found[field]), directory: dirname(path) };
    }
    throw unusable(`${paths.join(", ")} has no ${field} ${JSON.stringify(name)}`);
  };
  const current = contextName ?? files.map(({ content }) => content["current-context"]).find((name) => name);
  if (current === undefined)
    throw unusable(`${paths.join(", ")} names no current-context`, "choose one with --context");
  const context = find("contexts", "context", current);
  const cluster = find("clusters", "cluster", context["cluster"]);
  const user = context["user"] === undefined ? { directory: "." } : find("users", "user", context["user"]);
  return {
    ...clusterOf(cluster),
    namespace: textOf(context["namespace"]) ?? "default",
    credentials: credentialsOf(user, env),
  };
}

function clusterOf(cluster: Entry): Pick<ClusterConfig, "server" | "tls"> {
  if (cluster["proxy-url"] !== undefined) throw unusable("proxy-url is not supported");
  const server = textOf(cluster["server"]);
  if (server === undefined || !URL.canParse(server)) throw unusable(`${JSON.stringify(server)} is no server address`);
  const ca = bytesOf(cluster, "certificate-authority");
  const servername = textOf(cluster["tls-server-name"]);
  return {
    server: new URL(server),
    tls: {
      ...(ca === null ? {} : { ca }),
      ...(servername === undefined ? {} : { servername }),
      rejectUnauthorized: cluster["insecure-skip-tls-verify"] !== true,
    },
  };
}

function credentialsOf(user: Entry, env: Readonly<Record<string, string | undefined>>): Credentials {
  for (const field of ["auth-provider", "as", "as-groups"]) {
    if (user[field] !== undefined)
      throw unusable(`${field} of a user is not supported`, "use exec, a token or a certificate");
  }
  if (user["exec"] !== undefined) return execCredentials(fieldsOf(user["exec"]), user.directory, env);
  const file = textOf(user["tokenFile"]);
  if (file !== undefined) return tokenFile(resolve(user.directory, file));
  const token = textOf(user["token"]);
  const [name, password] = [textOf(user["username"]), textOf(user["password"])];
  const basic = name === undefined ? null : `Basic ${Buffer.from(`${name}:${password ?? ""}`).toString("base64")}`;
  const authorization = token === undefined ? basic : `Bearer ${token}`;
  return fixedCredentials({
    authorization,
    cert: bytesOf(user, "client-certificate"),
    key: bytesOf(user, "client-key"),
  });
}

function bytesOf(entry: Entry, field: string): Buffer | null {
  const data = textOf(entry[`${field}-data`]);
  if (data !== undefined) return Buffer.from(data, "base64");
  const path = textOf(entry[field]);
  return path === undefined ? null : readBytes(resolve(entry.directory, path));
}

function parsed(path: string): Fields {
  try {
    return fieldsOf(parse(readText(path)));
  } catch (error) {
    throw error instanceof KronError ? error : unusable(`${path} is no YAML`, undefined, error);
  }
}

function fieldsOf(value: unknown): Fields {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
  throw unusable("a mapping was expected");
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function readText(path: string): string {
  return readBytes(path).toString("utf8");
}

function readBytes(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw unusable(`${path} cannot be read`, "name a kubeconfig with --kubeconfig or $KUBECONFIG", error);
  }
}

function unusable(message: string, hint?: string, cause?: unknown): KronError {
  const details = { component: "config", operation: "kubeconfig", cause } as const;
  return new KronError("kubeconfig-unusable", message, hint === undefined ? details : { ...details, hint });
}
