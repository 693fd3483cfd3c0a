/** Who we are to the API server, and how to find out anew when it does not believe us any more. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { KronError } from "../../core/base/errors/kron-error.js";
import { parseInstant } from "../../core/time/instant.js";

export interface Identity {
  /** The whole header; null: none. */
  readonly authorization: string | null;
  readonly cert: Buffer | null;
  readonly key: Buffer | null;
}

export interface Credentials {
  /** `isRefused`: the last ones were, so cached ones are of no use. */
  current(isRefused: boolean): Promise<Identity>;
}

export function fixedCredentials(identity: Identity): Credentials {
  return { current: async () => identity };
}

/** A pod's token is rotated on disk. */
const TOKEN_AGE_MS = 60_000;

export function tokenFile(path: string): Credentials {
  let known: Identity | null = null;
  let readAtMs = Number.NEGATIVE_INFINITY;
  return {
    current: async (isRefused) => {
      const nowMs = performance.now();
      if (known === null || isRefused || nowMs - readAtMs > TOKEN_AGE_MS) {
        known = { authorization: `Bearer ${readToken(path)}`, cert: null, key: null };
        readAtMs = nowMs;
      }
      return known;
    },
  };
}

function readToken(path: string): string {
  try {
    return readFileSync(path, "utf8").trim();
  } catch (cause) {
    throw refused(`the token ${path} cannot be read`, cause);
  }
}

type Fields = Readonly<Record<string, unknown>>;

const EXEC_LIMITS = { timeoutMs: 30_000, outputBytes: 1024 * 1024, earlyMs: 60_000 } as const;
const EXEC_VERSIONS: readonly unknown[] = ["client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1"];

/** A plugin of a cloud's own: what it prints is believed until it expires. */
export function execCredentials(
  exec: Fields,
  directory: string,
  env: Readonly<Record<string, string | undefined>>,
): Credentials {
  const { command, apiVersion } = exec;
  if (typeof command !== "string") throw refused("an exec plugin without a command");
  if (!EXEC_VERSIONS.includes(apiVersion)) throw refused(`exec plugins of ${String(apiVersion)} are not supported`);
  const program = command.includes("/") && !isAbsolute(command) ? resolve(directory, command) : command;
  let known: { readonly identity: Identity; readonly untilAt: number } | null = null;
  let asking: Promise<Identity> | null = null;
  const ask = async (): Promise<Identity> => {
    const printed = await run(program, argumentsOf(exec), environmentOf(exec, env));
    known = readPlugin(printed, program);
    return known.identity;
  };
  return {
    current: async (isRefused) => {
      if (known !== null && !isRefused && Date.now() < known.untilAt) return known.identity;
      // One at a time: a plugin may open a browser.
      asking ??= ask().finally(() => {
        asking = null;
      });
      return asking;
    },
  };
}

function argumentsOf({ args }: Fields): readonly string[] {
  return Array.isArray(args) ? args.map(String) : [];
}

function environmentOf(exec: Fields, env: Readonly<Record<string, string | undefined>>): NodeJS.ProcessEnv {
  const own = Array.isArray(exec["env"]) ? (exec["env"] as readonly Fields[]) : [];
  const info = JSON.stringify({ apiVersion: exec["apiVersion"], kind: "ExecCredential", spec: { interactive: false } });
  return {
    ...env,
    ...Object.fromEntries(own.map(({ name, value }) => [String(name), String(value)])),
    KUBERNETES_EXEC_INFO: info,
  };
}

function run(program: string, args: readonly string[], env: NodeJS.ProcessEnv): Promise<string> {
  const { timeoutMs, outputBytes } = EXEC_LIMITS;
  return new Promise((done, fail) => {
    execFile(program, [...args], { env, timeout: timeoutMs, maxBuffer: outputBytes }, (error, stdout) => {
      if (error === null) done(stdout);
      else fail(refused(`the credential plugin ${program} failed`, error));
    });
  });
}

function readPlugin(printed: string, program: string): { readonly identity: Identity; readonly untilAt: number } {
  const status = statusOf(printed);
  const { token, clientCertificateData: cert, clientKeyData: key, expirationTimestamp } = status;
  if (typeof token !== "string" && typeof cert !== "string") {
    throw refused(`the credential plugin ${program} printed no credentials`);
  }
  const expires = parseInstant(typeof expirationTimestamp === "string" ? expirationTimestamp : "");
  return {
    identity: {
      authorization: typeof token === "string" ? `Bearer ${token}` : null,
      cert: typeof cert === "string" ? Buffer.from(cert) : null,
      key: typeof key === "string" ? Buffer.from(key) : null,
    },
    untilAt: expires.ok ? expires.value - EXEC_LIMITS.earlyMs : Number.POSITIVE_INFINITY,
  };
}

function statusOf(printed: string): Fields {
  try {
    const value: unknown = JSON.parse(printed);
    const status = typeof value === "object" && value !== null ? (value as Fields)["status"] : null;
    return typeof status === "object" && status !== null ? (status as Fields) : {};
  } catch {
    return {};
  }
}

function refused(message: string, cause?: unknown): KronError {
  return new KronError("kubeconfig-unusable", message, { component: "config", operation: "credentials", cause });
}
