/**
 * Users and groups as the system's own tools see them, whatever stands behind: files, LDAP, a container's emptiness.
 * Only the launcher asks, because the daemon never forks itself. What was found is believed for a short while.
 */
import * as fs from "node:fs";
import { err, ok, type Result } from "../../../core/base/result.js";
import type { ArmFailure } from "../../runner/port.js";
import { failure } from "../request-check.js";
import { findProgram, runHelper } from "./helper.js";
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

interface Kept {
  readonly untilMs: number;
  readonly found: Promise<Result<Account, ArmFailure>>;
}

/** Names as the tools take them; a leading `-` would be an option. */
const NAME = /^[^-:\s\p{Cc}][^:\s\p{Cc}]{0,255}$/u;
const NUMBER = /^\d{1,10}$/;
const LARGEST_ID = 4_294_967_294;

export class Accounts {
  private readonly users = new Map<string, Kept>();
  private readonly groupIds = new Map<string, { readonly untilMs: number; readonly gid: Promise<number | null> }>();

  userOf(name: string): Promise<Result<Account, ArmFailure>> {
    const nowMs = performance.now();
    const kept = this.users.get(name);
    if (kept !== undefined && kept.untilMs > nowMs) return kept.found;
    if (this.users.size >= LAUNCHER_LIMITS.accountsKept) this.users.clear();
    const found = lookUpUser(name);
    this.users.set(name, { untilMs: nowMs + LAUNCHER_LIMITS.accountMs, found });
    return found;
  }

  /** null when there is no such group. */
  groupOf(name: string): Promise<number | null> {
    const nowMs = performance.now();
    const kept = this.groupIds.get(name);
    if (kept !== undefined && kept.untilMs > nowMs) return kept.gid;
    if (this.groupIds.size >= LAUNCHER_LIMITS.accountsKept) this.groupIds.clear();
    const gid = lookUpGroup(name);
    this.groupIds.set(name, { untilMs: nowMs + LAUNCHER_LIMITS.accountMs, gid });
    return gid;
  }

  /** After a surprise: what is kept may be out of date. */
  forget(): void {
    this.users.clear();
    this.groupIds.clear();
  }
}

async function lookUpUser(name: string): Promise<Result<Account, ArmFailure>> {
  if (!NAME.test(name)) return err(failure("user-unknown", `${JSON.stringify(name)} is no user name`));
  const entry = await databaseEntry("passwd", name);
  if (entry === null) return unlistedUser(name);
  const [login = name, , uid, gid, , home = ""] = entry;
  const groups = await groupsOf(login, Number(gid));
  if (groups === null) return err(failure("user-unknown", `the groups of user ${name} cannot be found out`));
  return ok({
    name: login,
    uid: Number(uid),
    gid: Number(gid),
    groups,
    home: home === "" ? "/" : home,
    isListed: true,
  });
}

function unlistedUser(name: string): Result<Account, ArmFailure> {
  const uid = NUMBER.test(name) ? Number(name) : Number.NaN;
  if (!(uid <= LARGEST_ID)) return err(failure("user-unknown", `there is no user ${name}`));
  return ok({ name, uid, gid: Number.NaN, groups: [], home: "/", isListed: false });
}

async function groupsOf(login: string, primary: number): Promise<readonly number[] | null> {
  const id = findProgram("id");
  const { status, output } = id === null ? { status: null, output: "" } : await runHelper(id, ["-G", "--", login]);
  if (status !== 0) return null;
  const groups = output.trim().split(/\s+/).map(Number);
  return groups.every(Number.isInteger) ? [...new Set([primary, ...groups])] : null;
}

async function lookUpGroup(name: string): Promise<number | null> {
  if (!NAME.test(name)) return null;
  const entry = await databaseEntry("group", name);
  if (entry !== null) return Number(entry[2]);
  const gid = NUMBER.test(name) ? Number(name) : Number.NaN;
  return gid <= LARGEST_ID ? gid : null;
}

/** By name first; a number is looked up as an id. */
async function databaseEntry(database: "passwd" | "group", key: string): Promise<readonly string[] | null> {
  const local = fileEntry(database, key);
  const getent = local === null ? findProgram("getent") : null;
  if (getent === null) return local;
  const { status, output } = await runHelper(getent, [database, key]);
  const line = output.split("\n", 1)[0] ?? "";
  return status === 0 && line.includes(":") ? line.split(":") : null;
}

function fileEntry(database: "passwd" | "group", key: string): readonly string[] | null {
  const entries = readLines(`/etc/${database}`).map((line) => line.split(":"));
  return entries.find(([name]) => name === key) ?? entries.find(([, , id]) => id === key) ?? null;
}

function readLines(path: string): readonly string[] {
  try {
    return fs.readFileSync(path, "utf8").split("\n");
  } catch {
    return [];
  }
}
