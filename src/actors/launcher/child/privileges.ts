/**
 * Becoming another user: initgroups, setgid, setuid by `setpriv`, in that order, and then a look at what the kernel says
 * the process is. A process that is not exactly what was asked for is never believed to be ready.
 */
import * as fs from "node:fs";
import { err, ok, type Result } from "../../../core/base/result.js";
import type { ArmFailure } from "../../runner/port.js";
import { failure } from "../request-check.js";
import type { Account, Accounts } from "./accounts.js";
import { findProgram } from "./helper.js";

export interface Identity {
  readonly account: Account;
  readonly gid: number;
  /** Put in front of the gate; empty where nothing is to be dropped. */
  readonly prefix: readonly string[];
  /** Whether the process must be looked at before it is believed. */
  readonly mustVerify: boolean;
}

interface OwnIds {
  readonly uid: number;
  readonly gid: number;
}

/** Who the process shall be, and by which words. Nothing is asked of the system when neither user nor group is named. */
export async function resolveIdentity(
  accounts: Accounts,
  own: OwnIds,
  user: string | null,
  group: string | null,
): Promise<Result<Identity, ArmFailure>> {
  const found = await accounts.userOf(user ?? String(own.uid));
  if (!found.ok) return found;
  const account = found.value;
  if (user === null && group === null) return ok({ account, gid: own.gid, prefix: [], mustVerify: false });
  const foundGroup = group === null ? ok(account.gid) : await accounts.groupOf(group);
  if (!foundGroup.ok) return foundGroup;
  const gid = foundGroup.value;
  if (Number.isNaN(gid)) {
    return err(failure("user-unknown", `user ${user} stands in no user database: name a group, too`));
  }
  if (own.uid !== 0) return keepOwn(account, own, gid);
  return dropped(account, gid);
}

/** Without root only what one is already can be had. */
function keepOwn(account: Account, own: OwnIds, gid: number): Result<Identity, ArmFailure> {
  if (account.uid === own.uid && gid === own.gid) return ok({ account, gid, prefix: [], mustVerify: true });
  const wanted = `uid ${account.uid}, gid ${gid}`;
  return err(failure("privilege-drop-failed", `only root can start processes as ${wanted}; this is uid ${own.uid}`));
}

function dropped(account: Account, gid: number): Result<Identity, ArmFailure> {
  const setpriv = findProgram("setpriv");
  if (setpriv === null) return err(failure("privilege-drop-failed", "setpriv (util-linux) is not installed"));
  const groups = account.isListed ? "--init-groups" : "--clear-groups";
  const prefix = [setpriv, `--reuid=${account.uid}`, `--regid=${gid}`, groups, "--"];
  return ok({ account, gid, prefix, mustVerify: true });
}

/** null when the kernel confirms the identity, else what it says instead. */
export function verifyIdentity(pid: number, wanted: Identity): string | null {
  const status = readStatus(pid);
  const { uid } = wanted.account;
  return (
    disagreement("uids", status.get("Uid"), (ids) => ids.length === 4 && ids.every((id) => id === uid)) ??
    disagreement("gids", status.get("Gid"), (ids) => ids.length === 4 && ids.every((id) => id === wanted.gid)) ??
    disagreement("groups", status.get("Groups"), (ids) => areGroupsRight(ids, wanted)) ??
    (wanted.prefix.length === 0 ? null : remainingCapabilities(status, uid))
  );
}

/**
 * With an explicit group the user's primary one may be among the supplementary groups or not. Nothing else may be there,
 * and nothing may be missing. Where nothing was dropped, the groups are those of the daemon itself.
 */
function areGroupsRight(actual: readonly number[], wanted: Identity): boolean {
  if (wanted.prefix.length === 0) return true;
  if (!wanted.account.isListed) return actual.length === 0;
  const allowed = new Set([wanted.gid, ...wanted.account.groups]);
  const required = wanted.account.groups.filter((gid) => gid !== wanted.account.gid);
  return actual.every((gid) => allowed.has(gid)) && required.every((gid) => actual.includes(gid));
}

function disagreement(
  what: string,
  text: string | undefined,
  isRight: (ids: readonly number[]) => boolean,
): string | null {
  if (text === undefined) return "the process cannot be looked at";
  const ids = text === "" ? [] : text.split(/\s+/).map(Number);
  return isRight(ids) ? null : `its ${what} are ${text === "" ? "none" : text}`;
}

function remainingCapabilities(status: ReadonlyMap<string, string>, uid: number): string | null {
  const sets = uid === 0 ? [] : ["CapPrm", "CapEff", "CapAmb"];
  const left = sets.find((set) => !/^0+$/.test(status.get(set) ?? ""));
  return left === undefined ? null : `it kept capabilities: ${left} ${status.get(left)}`;
}

function readStatus(pid: number): ReadonlyMap<string, string> {
  try {
    const lines = fs.readFileSync(`/proc/${pid}/status`, "latin1").split("\n");
    return new Map(lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]));
  } catch {
    return new Map();
  }
}
