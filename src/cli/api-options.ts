/** How the command line asks for the API. */
import { resolve } from "node:path";
import { type ApiOptions, refusalOf } from "../api/options.js";
import { countArg, type ParsedArgs } from "./args.js";
import { usageError } from "./exit.js";
import type { CliIo } from "./io.js";
import { listenAddress } from "./listen-address.js";

const SOCKET = "unix:";
/** What the system can write down of the name of a socket. */
const MOST_SOCKET_BYTES = 103;
const USUAL_ADDRESS = { host: "127.0.0.1", port: 7070 } as const;
const MOST_REQUESTS = 10_000;
const NAME = /^(?!-)[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})*$/i;

/** null: nobody asks for it. */
export function apiOptions(args: ParsedArgs, io: CliIo): ApiOptions | null {
  const address = addressOf(args, io);
  const stray = ["api-tls", "api-behind-proxy", "api-rate"].find((name) => args.text(name) !== undefined);
  if (address === null) {
    if (stray !== undefined) throw usageError(`--${stray} is for --api`, "krond start --api 127.0.0.1:7070");
    return null;
  }
  const hasPage = args.text("web") !== undefined;
  const options = { address, tls: tlsOf(args, io), proxyNames: proxyNames(args), hasPage, ...rateOf(args) };
  const refusal = refusalOf(options);
  if (refusal === null) return options;
  const hint = "give it --api-tls CERT,KEY, or --api-behind-proxy NAME where a proxy does TLS";
  const option = args.text("api") === undefined ? "--web" : "--api";
  throw usageError(`${option}: ${refusal}`, address.kind === "port" ? hint : socketHint(hasPage));
}

function socketHint(hasPage: boolean): string {
  return hasPage ? "name the proxy in front of it with --api-behind-proxy" : "leave out --api-tls";
}

/** The page is at the API's own address, which is given once. */
function addressOf(args: ParsedArgs, io: CliIo): ApiOptions["address"] | null {
  const [api, web] = [args.text("api"), args.text("web")];
  if (api === undefined) return web === undefined ? null : pageAddress(args, web);
  if (web === undefined || web === "") return apiAddress(args, io);
  throw usageError("--web and --api share one address", `write --api ${api} --web`);
}

function pageAddress(args: ParsedArgs, written: string): ApiOptions["address"] {
  const address = written === "" ? USUAL_ADDRESS : listenAddress(args, "web", `${USUAL_ADDRESS.port}`);
  return { kind: "port", ...(address ?? USUAL_ADDRESS) };
}

function apiAddress(args: ParsedArgs, io: CliIo): ApiOptions["address"] | null {
  const written = args.text("api");
  if (written?.startsWith(SOCKET) !== true) {
    const address = listenAddress(args, "api", "7070");
    return address === null ? null : { kind: "port", ...address };
  }
  const path = resolve(io.cwd, written.slice(SOCKET.length));
  if (written === SOCKET) throw usageError("--api: unix: needs a path", "write unix:/run/kron/api.sock");
  if (Buffer.byteLength(path) <= MOST_SOCKET_BYTES) return { kind: "socket", path };
  throw usageError(`--api: ${path} is too long for a socket`, `at most ${MOST_SOCKET_BYTES} bytes`);
}

function tlsOf(args: ParsedArgs, io: CliIo): ApiOptions["tls"] {
  const written = args.text("api-tls");
  if (written === undefined) return null;
  const [certificate, key, ...more] = written.split(",");
  if (!certificate || !key || more.length > 0) {
    throw usageError(
      `--api-tls: "${written}" is not a certificate and its key`,
      "write /etc/kron/api.crt,/etc/kron/api.key",
    );
  }
  return { certificate: resolve(io.cwd, certificate), key: resolve(io.cwd, key) };
}

function proxyNames(args: ParsedArgs): readonly string[] {
  const names = (args.text("api-behind-proxy") ?? "").split(",").filter((name) => name !== "");
  const wrong = names.find((name) => !NAME.test(name));
  if (wrong === undefined) return names;
  throw usageError(
    `--api-behind-proxy: "${wrong}" is no name of a host`,
    "write it like kron.example.com, without https://",
  );
}

function rateOf(args: ParsedArgs): Pick<ApiOptions, "rate"> {
  if (args.text("api-rate") === undefined) return {};
  const perSecond = countArg(args, "api-rate", 0, MOST_REQUESTS);
  return { rate: { perSecond, burst: 2 * perSecond } };
}
