/**
 * Names to addresses. The names of this machine's own file first; then name servers, asked without threads, so that dead
 * ones hold up nobody else; a name of one part the system's way, because search lists and local names are its business.
 */
import { Resolver as NameServers, type RecordWithTtl } from "node:dns";
import { lookup } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { isLocalName } from "../../core/base/address.js";
import { err, ok, type Result } from "../../core/base/result.js";
import type { Clock } from "../clock.js";
import { DISPATCHER_LIMITS } from "./limits.js";

/** Never empty; the message says why there are none. */
type Addresses = Result<readonly string[], string>;

export interface Resolver {
  resolve(hostname: string): Promise<Addresses>;
}

interface Found {
  readonly answer: Addresses;
  readonly forMs: number;
}

interface Known {
  readonly answer: Promise<Addresses>;
  untilMs: number;
}

const HOSTS_FILE = "/etc/hosts";
const NO_SUCH_NAME: ReadonlySet<string> = new Set(["ENODATA", "ENOTFOUND"]);

export class SystemResolver implements Resolver {
  /** Oldest first. */
  readonly #known = new Map<string, Known>();
  #lookups = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #clock: Clock;
  readonly #hostsFile: string;

  constructor(clock: Clock, hostsFile = HOSTS_FILE) {
    this.#clock = clock;
    this.#hostsFile = hostsFile;
  }

  /** Asked once at a time for each name, and as long as an answer holds. */
  resolve(hostname: string): Promise<Addresses> {
    const name = hostname.toLowerCase().replace(/\.$/, "");
    const known = this.#known.get(name);
    if (known !== undefined && this.#clock.monotonicMs() < known.untilMs) return known.answer;
    const entry: Known = {
      untilMs: Number.POSITIVE_INFINITY,
      answer: this.#find(name).then((found) => {
        entry.untilMs = this.#clock.monotonicMs() + found.forMs;
        return found.answer;
      }),
    };
    this.#known.delete(name);
    this.#known.set(name, entry);
    const [oldest] = this.#known.size > DISPATCHER_LIMITS.dnsNames ? this.#known.keys() : [];
    if (oldest !== undefined) this.#known.delete(oldest);
    return entry.answer;
  }

  async #find(name: string): Promise<Found> {
    const own = await this.#fromFile(name);
    if (own.length > 0) return { answer: ok(own), forMs: DISPATCHER_LIMITS.dnsLeastMs };
    if (isLocalName(name)) return { answer: ok(["127.0.0.1", "::1"]), forMs: DISPATCHER_LIMITS.dnsMostMs };
    return name.includes(".") ? this.#fromServers(name) : this.#fromSystem(name);
  }

  async #fromFile(name: string): Promise<readonly string[]> {
    const text = await readFile(this.#hostsFile, "utf8").catch(() => "");
    return text.split("\n").flatMap((line) => {
      const [address = "", ...names] = line.replace(/#.*/, "").trim().split(/\s+/);
      return isIP(address) !== 0 && names.some((one) => one.toLowerCase() === name) ? [address] : [];
    });
  }

  async #fromServers(name: string): Promise<Found> {
    // Anew each time: which servers there are may have changed.
    const servers = new NameServers({ timeout: DISPATCHER_LIMITS.dnsTimeoutMs, tries: DISPATCHER_LIMITS.dnsTries });
    const [four, six] = await Promise.all([ask(servers, "resolve4", name), ask(servers, "resolve6", name)]);
    const records = [...four.records, ...six.records].slice(0, DISPATCHER_LIMITS.addresses);
    if (records.length > 0) {
      const ttlMs = Math.min(...records.map(({ ttl }) => ttl)) * 1_000;
      const forMs = Math.min(DISPATCHER_LIMITS.dnsMostMs, Math.max(DISPATCHER_LIMITS.dnsLeastMs, ttlMs));
      return { answer: ok(records.map(({ address }) => address)), forMs };
    }
    const code = four.code ?? six.code ?? "ENODATA";
    const message = NO_SUCH_NAME.has(code) ? `there is no address for ${name}` : `${name} cannot be looked up: ${code}`;
    return { answer: err(message), forMs: DISPATCHER_LIMITS.dnsMissingMs };
  }

  async #fromSystem(name: string): Promise<Found> {
    await this.#turn();
    try {
      const found = await lookup(name, { all: true });
      const addresses = found.slice(0, DISPATCHER_LIMITS.addresses).map(({ address }) => address);
      return { answer: ok(addresses), forMs: DISPATCHER_LIMITS.dnsLeastMs };
    } catch {
      return { answer: err(`there is no address for ${name}`), forMs: DISPATCHER_LIMITS.dnsMissingMs };
    } finally {
      this.#lookups -= 1;
      this.#waiting.shift()?.();
    }
  }

  async #turn(): Promise<void> {
    if (this.#lookups >= DISPATCHER_LIMITS.systemLookups) await new Promise<void>((go) => this.#waiting.push(go));
    this.#lookups += 1;
  }
}

function ask(
  servers: NameServers,
  kind: "resolve4" | "resolve6",
  name: string,
): Promise<{ readonly records: readonly RecordWithTtl[]; readonly code: string | null }> {
  return new Promise((resolve) => {
    servers[kind](name, { ttl: true }, (error, records) => {
      resolve(error === null ? { records, code: null } : { records: [], code: error.code ?? error.message });
    });
  });
}
