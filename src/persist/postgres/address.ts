/** How an operator names a database, and what is left out of it: an address is shown to everybody, so it has no password. */
import { userInfo } from "node:os";
import type { Problem } from "../../core/base/problem.js";
import { err, ok, type Result } from "../../core/base/result.js";

/** As libpq reads them; what would go on without encryption where there is none to be had is not among them. */
export const TLS_MODES = ["disable", "require", "verify-ca", "verify-full"] as const;
type TlsMode = (typeof TLS_MODES)[number];

export interface PostgresAddress {
  /** A name, an address, or the directory of a Unix socket. */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  readonly tls: TlsMode;
  /** A file in PEM form; null: the authorities that Node brings along. */
  readonly rootCertificate: string | null;
  /** The same once more, as people are told it; what is read from it is this address. */
  readonly text: string;
}

const SCHEMES = ["postgres:", "postgresql:"];
const USUAL_PORT = 5432;
const MOST_PORT = 65_535;
const PARAMETERS = ["host", "port", "user", "sslmode", "sslrootcert"];
const THIS_MACHINE = ["localhost", "127.0.0.1", "[::1]", "::1"];
const FORM = "write it like postgres://krond@db.example/kron?sslmode=verify-full";

export function isPostgresAddress(text: string): boolean {
  return SCHEMES.some((scheme) => text.toLowerCase().startsWith(scheme));
}

function refuse(message: string, hint = FORM): Result<never, Problem> {
  return err({ code: "field-range", message, path: [], hint });
}

function isTlsMode(text: string): text is TlsMode {
  return TLS_MODES.some((mode) => mode === text);
}

/** Names in an address may be written with escapes. */
function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}

function checkParameters(url: URL): Result<void, Problem> {
  if (url.password !== "") {
    const hint = "write it into a file of your own, and name that by --store-password-file, PGPASSFILE or PGPASSWORD";
    return refuse("the address holds a password, which everybody on this machine could read", hint);
  }
  if (url.hash !== "") return refuse("the address has a part behind #");
  const names = [...url.searchParams.keys()];
  const unknown = names.find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) {
    return refuse(`"${unknown}" is no parameter of an address`, `they are ${PARAMETERS.join(", ")}`);
  }
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  return twice === undefined ? ok(undefined) : refuse(`"${twice}" is written twice`);
}

function tlsOf(url: URL, isNear: boolean): Result<TlsMode, Problem> {
  // Where nobody says otherwise a server elsewhere has to prove who it is.
  const mode = url.searchParams.get("sslmode") ?? (isNear ? "disable" : "verify-full");
  return isTlsMode(mode) ? ok(mode) : refuse(`sslmode "${mode}" is none`, `write one of ${TLS_MODES.join(", ")}`);
}

function portOf(url: URL): number | null {
  const text = url.searchParams.get("port") ?? url.port;
  if (text === "") return USUAL_PORT;
  const port = Number(text);
  return /^\d{1,5}$/.test(text) && port > 0 && port <= MOST_PORT ? port : null;
}

function formatted(address: Omit<PostgresAddress, "text">): string {
  const { host, port, database, user, tls, rootCertificate } = address;
  const isSocket = host.startsWith("/");
  const where = isSocket ? "" : `${encodeURIComponent(user)}@${host.includes(":") ? `[${host}]` : host}:${port}`;
  const parameters = new URLSearchParams({
    ...(isSocket ? { host, port: String(port), user } : { sslmode: tls }),
    ...(rootCertificate === null ? {} : { sslrootcert: rootCertificate }),
  });
  return `postgres://${where}/${encodeURIComponent(database)}?${parameters}`;
}

/** Of an address that cannot be used nothing is repeated but names of parameters. */
export function readPostgresAddress(text: string): Result<PostgresAddress, Problem> {
  if (!URL.canParse(text)) return refuse("the address of the database cannot be read");
  const url = new URL(text);
  const checked = checkParameters(url);
  if (!checked.ok) return checked;
  const user = decoded(url.searchParams.get("user") ?? (url.username || userInfo().username));
  const database = decoded(url.pathname.replace(/^\//, "")) || user;
  if (user === null || database === null || database.includes("/")) return refuse("the address names no database");
  const host = url.searchParams.get("host") ?? decoded(url.hostname.replaceAll(/[[\]]/g, ""));
  if (!host) return refuse("the address names no host", "of a Unix socket: postgres:///kron?host=/run/postgresql");
  if (host.includes(",")) return refuse("the address names several hosts", "name the one that takes writes");
  const port = portOf(url);
  if (port === null) return refuse("the port of the address is none");
  const tls = tlsOf(url, host.startsWith("/") || THIS_MACHINE.includes(host));
  if (!tls.ok) return tls;
  const rootCertificate = url.searchParams.get("sslrootcert");
  if (rootCertificate !== null && tls.value === "disable") {
    return refuse("sslrootcert is for connections with TLS", "write sslmode=verify-full too");
  }
  const address = { host, port, database, user, tls: tls.value, rootCertificate };
  return ok({ ...address, text: formatted(address) });
}
