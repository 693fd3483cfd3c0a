/**
 * Below which control group each run gets one of its own, so that ending a run ends all that it started (S28): a
 * directory that the operator names, or the daemon's own group where the service manager has delegated it. Groups that
 * belong to somebody else are left alone, also where we could write to them.
 */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { err, ok, type Result } from "../../core/base/result.js";

export interface CgroupSystem {
  /** As /proc/self/cgroup and /proc/self/mounts. */
  readonly ownGroups: string;
  readonly mounts: string;
  /** Whether the service manager has given the group of this unit away. */
  isDelegated(unit: string): boolean;
}

const SYSTEMCTL_MS = 2_000;
const OWN_GROUP = /^0::(\/.*)$/m;
const UNIFIED_MOUNT = /^\S+ (\S+) cgroup2 /m;

const LINUX_CGROUPS: CgroupSystem = {
  ownGroups: "/proc/self/cgroup",
  mounts: "/proc/self/mounts",
  isDelegated: (unit) => {
    const scope = process.geteuid?.() === 0 ? [] : ["--user"];
    const args = [...scope, "show", "--property=Delegate", "--value", "--", unit];
    const { status, stdout } = spawnSync("systemctl", args, { encoding: "utf8", timeout: SYSTEMCTL_MS });
    return status === 0 && stdout.trim() === "yes";
  },
};

/** For a service of systemd; null for everything else. */
export function delegatedCgroup(
  env: Readonly<Record<string, string | undefined>>,
  system: CgroupSystem = LINUX_CGROUPS,
): string | null {
  if (!env["INVOCATION_ID"]) return null;
  const group = ownCgroup(system);
  if (group === null) return null;
  const unit = path.basename(group.name);
  if (!unit.endsWith(".service") || !system.isDelegated(unit)) return null;
  const directory = path.join(group.mount, group.name);
  return checkCgroupRoot(directory).ok ? directory : null;
}

/** Where the daemon itself is in the unified hierarchy; null: there is none. */
export function ownCgroup(
  system: Pick<CgroupSystem, "ownGroups" | "mounts"> = LINUX_CGROUPS,
): { readonly mount: string; readonly name: string } | null {
  const name = OWN_GROUP.exec(textOf(system.ownGroups))?.[1];
  const mount = UNIFIED_MOUNT.exec(textOf(system.mounts))?.[1];
  return name === undefined || mount === undefined ? null : { mount, name };
}

/** What the operator names must be one, and ours to write to. */
export function checkCgroupRoot(directory: string): Result<string, string> {
  if (!path.isAbsolute(directory)) return err("it must be an absolute path");
  try {
    fs.accessSync(path.join(directory, "cgroup.procs"), fs.constants.R_OK);
    fs.accessSync(directory, fs.constants.W_OK | fs.constants.X_OK);
    return ok(directory);
  } catch (error) {
    return err(`it is no control group that can be written to: ${error instanceof Error ? error.message : error}`);
  }
}

export function textOf(file: string): string {
  try {
    return fs.readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
