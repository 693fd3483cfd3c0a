/**
 * Users and groups as the system's own tools see them, whatever stands behind: files, LDAP, a container's emptiness.
 * Only the launcher asks, because the daemon never forks itself. What was found is believed for a short while.
 */
import * as fs from "node:fs";
import { spawnErrorCode } from "../../../core/base/errors/errno.js";
import { err, ok, type Result } from "../../../core/base/result.js";
import type { ArmFailure } from "../../runner/port.js";
import { failure } from "../request-check.js";
import { findProgram, type HelperResult, runHelper, systemErrorName } from "./helper.js";
import { LAUNCHER_LIMITS } from "./limits.js";

export interface Account {
  readonly name: string;
  readonly uid: number;
  readonly gid: number;
  /** Every group of the user, the primary one included. */
  readonly groups: readonly number[];
  readonly home: string;
  /** False for a number that stands in no user database: such a process gets no supplementary groups. */
  readonly isListed: boolean;
}

/** What is asked of the system: tests put another in its place. */
export interface AccountSources {
  readText(file: string): string;
  run(program: string, args: readonly string[]): Promise<HelperResult>;
}

const SYSTEM: AccountSources = { readText: (file) => fs.readFileSync(file, "utf8"), run: runHelper };

type Found<T> = Result<T, ArmFailure>;

interface Kept<T> {
  readonly untilMs: number;
  readonly found: Promise<Found<T>>;
}

/** Names as the tools take them; a leading `-` would be an option. */
const NAME = /^[^-:\s\p{Cc}][^:\s\p{Cc}]{0,255}$/u;
const NUMBER = /^\d{1,10}$/;
const LARGEST_ID = 4_294_967_294;
/** Of getent(1): the key stands in no database. Every other failure is one of asking. */
const NOT_FOUND = 2;

export class Accounts {
  readonly #sources: AccountSources;
  readonly #users = new Map<string, Kept<Account>>();
  readonly #groupIds = new Map<string, Kept<number>>();

  constructor(sources: AccountSources = SYSTEM) {
    this.#sources = sources;
  }

  userOf(name: string): Promise<Found<Account>> {
    return keep(this.#users, name, () => lookUpUser(name, this.#sources));
  }

  groupOf(name: string): Promise<Found<number>> {
    return keep(this.#groupIds, name, () => lookUpGroup(name, this.#sources));
  }

  /** After a surprise: what is kept may be out of date. */
  forget(): void {
    this.#users.clear();
    this.#groupIds.clear();
  }
}

/** Answers only, never that there was none: who is unknown now may be made in a second, and EAGAIN passes. */
function keep<T>(known: Map<string, Kept<T>>, name: string, lookUp: () => Promise<Found<T>>): Promise<Found<T>> {
  const nowMs = performance.now();
  const kept = known.get(name);
  if (kept !== undefined && kept.untilMs > nowMs) return kept.found;
  if (known.size >= LAUNCHER_LIMITS.accountsKept) known.clear();
  const entry = { untilMs: nowMs + LAUNCHER_LIMITS.accountMs, found: lookUp() };
  known.set(name, entry);
  void entry.found.then(({ ok: isFound }) => {
    if (!isFound && known.get(name) === entry) known.delete(name);
  });
  return entry.found;
}

async function lookUpUser(name: string, sources: AccountSources): Promise<Found<Account>> {
  if (!NAME.test(name)) return err(failure("user-unknown", `${JSON.stringify(name)} is no user name`));
  const found = await databaseEntry("passwd", name, sources);
  if (!found.ok) return found;
  if (found.value === null) return unlistedUser(name);
  const [login = name, , uid, gid, , home = ""] = found.value;
  const groups = await groupsOf(login, Number(gid), sources);
  if (!groups.ok) return groups;
  return ok({
    name: login,
    uid: Number(uid),
    gid: Number(gid),
    groups: groups.value,
    home: home === "" ? "/" : home,
    isListed: true,
  });
}

function unlistedUser(name: string): Found<Account> {
  const uid = NUMBER.test(name) ? Number(name) : Number.NaN;
  if (!(uid <= LARGEST_ID)) return err(failure("user-unknown", `there is no user ${name}`));
  return ok({ name, uid, gid: Number.NaN, groups: [], home: "/", isListed: false });
}

async function groupsOf(login: string, primary: number, { run }: AccountSources): Promise<Found<readonly number[]>> {
  const unanswered = (why: string): Found<never> =>
    err(failure("privilege-drop-failed", `the groups of user ${login} cannot be found out: ${why}`));
  const id = findProgram("id");
  if (id === null) return unanswered("id (coreutils) is not installed");
  const { status, output, refusal } = await run(id, ["-G", "--", login]);
  if (refusal !== null) return err(refusal);
  const groups = output.trim().split(/\s+/).map(Number);
  if (status !== 0 || !groups.every(Number.isInteger)) return unanswered(`id ended with status ${status}`);
  return ok([...new Set([primary, ...groups])]);
}

async function lookUpGroup(name: string, sources: AccountSources): Promise<Found<number>> {
  const unknown = err(failure("user-unknown", `there is no group ${name}`));
  if (!NAME.test(name)) return unknown;
  const found = await databaseEntry("group", name, sources);
  if (!found.ok) return found;
  if (found.value !== null) return ok(Number(found.value[2]));
  const gid = NUMBER.test(name) ? Number(name) : Number.NaN;
  return gid <= LARGEST_ID ? ok(gid) : unknown;
}

type Entry = readonly string[] | null;

/** By name first; a number is looked up as an id. null: it stands in none. */
async function databaseEntry(
  database: "passwd" | "group",
  key: string,
  sources: AccountSources,
): Promise<Found<Entry>> {
  const local = fileEntry(database, key, sources);
  const getent = local.ok && local.value === null ? findProgram("getent") : null;
  if (getent === null) return local;
  const { status, output, refusal } = await sources.run(getent, [database, key]);
  if (refusal !== null) return err(refusal);
  const line = output.split("\n", 1)[0] ?? "";
  if (status === 0 && line.includes(":")) return ok(line.split(":"));
  if (status === 0 || status === NOT_FOUND) return ok(null);
  return err(
    failure("privilege-drop-failed", `${database} cannot be asked for ${key}: getent ended with status ${status}`),
  );
}

function fileEntry(database: "passwd" | "group", key: string, sources: AccountSources): Found<Entry> {
  const lines = linesOf(`/etc/${database}`, sources);
  if (!lines.ok) return lines;
  const entries = lines.value.map((line) => line.split(":"));
  return ok(entries.find(([name]) => name === key) ?? entries.find(([, , id]) => id === key) ?? null);
}

/** A system may do without the file; one that cannot be read now is no proof of anything. */
function linesOf(file: string, { readText }: AccountSources): Found<readonly string[]> {
  try {
    return ok(readText(file).split("\n"));
  } catch (error) {
    const errno = systemErrorName(error);
    if (errno === "ENOENT" || errno === "EACCES") return ok([]);
    return err(failure(spawnErrorCode(errno), `${file} cannot be read: ${errno}`));
  }
}
