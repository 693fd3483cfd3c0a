/**
 * Who may tell the daemon what to run: root, the daemon's own user, and owners that the operator has named. A file that
 * anybody else owns or may write is refused, and so is one on whose way from the root anybody else may put another in its
 * place: what may be exchanged is no safer than what may be written.
 *
 * Files and directories are judged on the descriptor through which they are read. Links are followed, because that is how
 * ConfigMaps and configuration management deliver files; every directory that a link leads through is judged as well.
 */
import * as fs from "node:fs/promises";
import * as path from "node:path";
import type { Problem } from "../../core/base/problem.js";
import type { ConfigCheck, OpenedConfig } from "../../persist/config-files.js";
import { privateGroupOf } from "./accounts.js";

/** Links on one way: as many as Linux itself follows. */
const MOST_LINKS = 40;
const GROUP_WRITABLE = 0o020;
const WORLD_WRITABLE = 0o002;
const STICKY = 0o1000;

export interface TrustRules {
  /** The daemon's effective user. */
  readonly daemonUid: number;
  /** From `--trust-owner`. */
  readonly trustedUids: readonly number[];
  /**
   * A group that nobody but the daemon's user is in: where every user has one, files are born with write permission for
   * it. Null for none, and always so for root: an access list may hide behind the permission of a group.
   */
  readonly privateGid: number | null;
}

/** A check for one loading of the configuration: what it has found out about a directory holds until it ends. */
export function configTrust(rules: TrustRules): ConfigCheck {
  return new TrustCheck(rules).check;
}

/** The rules for this process. */
export function trustRules(trustedUids: readonly number[]): TrustRules {
  const daemonUid = process.geteuid?.() ?? 0;
  return { daemonUid, trustedUids, privateGid: daemonUid === 0 ? null : privateGroupOf(daemonUid) };
}

interface Judged {
  readonly uid: number;
  readonly gid: number;
  readonly mode: number;
}

class TrustCheck {
  readonly #trusted: ReadonlySet<number>;
  readonly #privateGid: number | null;
  readonly #directories = new Map<string, Promise<Problem | null>>();

  constructor({ daemonUid, trustedUids, privateGid }: TrustRules) {
    this.#trusted = new Set([0, daemonUid, ...trustedUids]);
    this.#privateGid = privateGid;
  }

  readonly check: ConfigCheck = async ({ path: name, handle, stats }: OpenedConfig) => {
    const own = await this.#judge(name, stats, `/proc/self/fd/${handle.fd}`);
    return own ?? this.#judgeWay(path.resolve(name));
  };

  /** Walks as the system does, a name at a time, links included, and judges every directory on the way. */
  async #judgeWay(wanted: string): Promise<Problem | null> {
    const names = wanted.split(path.sep).filter((name) => name !== "");
    let directory: string = path.sep;
    let links = 0;
    for (let name = names.shift(); name !== undefined; name = names.shift()) {
      if (name === "..") {
        directory = path.dirname(directory);
        continue;
      }
      const entry = path.join(directory, name);
      const stats = await fs.lstat(entry);
      const problem = (await this.#judgeDirectory(directory)) ?? (await this.#judgeEntry(directory, entry, stats));
      if (problem !== null) return problem;
      if (!stats.isSymbolicLink()) {
        directory = entry;
        continue;
      }
      if (++links > MOST_LINKS) return untrusted(`${wanted} leads through too many links`);
      const target = await fs.readlink(entry);
      if (path.isAbsolute(target)) directory = path.sep;
      names.unshift(...target.split(path.sep).filter((part) => part !== "" && part !== "."));
    }
    return null;
  }

  #judgeDirectory(directory: string): Promise<Problem | null> {
    const known = this.#directories.get(directory);
    if (known !== undefined) return known;
    const judged = fs.stat(directory).then((stats) => this.#judge(directory, withoutSticky(stats), directory));
    this.#directories.set(directory, judged);
    return judged;
  }

  /** In a sticky directory such as /tmp nobody can replace a trusted owner's entry, but anybody can make a new one. */
  async #judgeEntry(directory: string, entry: string, { uid }: Judged): Promise<Problem | null> {
    if (this.#trusted.has(uid) || !this.#isOpen(await fs.stat(directory)) || (await isReadOnly(directory))) return null;
    return stranger(entry, uid);
  }

  async #judge(name: string, judged: Judged, opened: string): Promise<Problem | null> {
    if (!this.#trusted.has(judged.uid)) return stranger(name, judged.uid);
    if (!this.#isOpen(judged) || (await isReadOnly(opened))) return null;
    const octal = (judged.mode & 0o7777).toString(8).padStart(4, "0");
    return untrusted(`${name} may be written by others than its owner (mode ${octal})`, `chmod go-w ${name}`);
  }

  /** Whether its mode lets anybody write who is not trusted. */
  #isOpen({ gid, mode }: Judged): boolean {
    const group = gid === this.#privateGid ? 0 : GROUP_WRITABLE;
    return (mode & (group | WORLD_WRITABLE)) !== 0;
  }
}

function withoutSticky({ uid, gid, mode }: Judged): Judged {
  return { uid, gid, mode: (mode & STICKY) === 0 ? mode : mode & ~(GROUP_WRITABLE | WORLD_WRITABLE) };
}

/** Kubernetes mounts ConfigMaps with open modes, but read-only: then nobody can write whatever the mode says. */
async function isReadOnly(name: string): Promise<boolean> {
  try {
    await fs.access(name, fs.constants.W_OK);
    return false;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EROFS";
  }
}

function stranger(name: string, uid: number): Problem {
  const hint = `chown it to root or to the daemon's user, or start krond with --trust-owner ${uid}`;
  return untrusted(`${name} belongs to user ${uid}`, hint);
}

function untrusted(message: string, hint?: string): Problem {
  return { code: "config-untrusted", message, path: [], ...(hint === undefined ? {} : { hint }) };
}
