import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { type CgroupSystem, checkCgroupRoot, delegatedCgroup } from "../../../src/krond/boot/cgroup-root.js";
import { builtPrograms, jobsOf, krondProcesses } from "../../support/krond.js";
import { job, placesIn } from "../../support/place.js";
import { temporaryDirectories } from "../../support/temporary.js";

const temporary = temporaryDirectories();
const SERVICE = "/system.slice/krond.service";

/** A machine as far as control groups go: files that say so. */
function machine(own: string, change: Partial<CgroupSystem> & { readonly mount?: string } = {}) {
  const root = temporary();
  const mount = path.join(root, "cgroup");
  fs.mkdirSync(path.join(mount, SERVICE), { recursive: true });
  fs.writeFileSync(path.join(mount, SERVICE, "cgroup.procs"), "");
  const [ownGroups, mounts] = [path.join(root, "self"), path.join(root, "mounts")];
  fs.writeFileSync(ownGroups, own);
  fs.writeFileSync(mounts, change.mount ?? `proc /proc proc rw 0 0\ncgroup2 ${mount} cgroup2 rw,nsdelegate 0 0\n`);
  const asked: string[] = [];
  const isDelegated = (unit: string): boolean => asked.push(unit) > 0;
  return { system: { ownGroups, mounts, isDelegated, ...change }, directory: path.join(mount, SERVICE), asked };
}

const AS_SERVICE = { INVOCATION_ID: "x" };

describe("the daemon's own group", () => {
  test("S28: a delegated service of systemd uses its own", () => {
    const { system, directory, asked } = machine(`4:memory:/x\n0::${SERVICE}\n`);
    expect(delegatedCgroup(AS_SERVICE, system)).toBe(directory);
    expect(asked).toEqual(["krond.service"]);
  });

  test.each<[string, Record<string, string>, string, Parameters<typeof machine>[1]]>([
    ["not started by systemd", {}, `0::${SERVICE}\n`, {}],
    ["not delegated", AS_SERVICE, `0::${SERVICE}\n`, { isDelegated: () => false }],
    ["in a session, not in a service", AS_SERVICE, "0::/user.slice/session-1.scope\n", {}],
    ["without a unified hierarchy", AS_SERVICE, "4:memory:/x\n", {}],
    ["with none mounted", AS_SERVICE, `0::${SERVICE}\n`, { mount: "proc /proc proc rw 0 0\n" }],
    ["without /proc", AS_SERVICE, `0::${SERVICE}\n`, { ownGroups: "/nowhere/self" }],
    ["with a group that is not there", AS_SERVICE, "0::/system.slice/other.service\n", {}],
  ])("%s: none", (_title, env, own, change) => {
    expect(delegatedCgroup(env, machine(own, change).system)).toBeNull();
  });

  test.each(["relative", "/nowhere/at/all", "/tmp"])("%s is no control group", (directory) => {
    expect(checkCgroupRoot(directory).ok).toBe(false);
  });
});

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporary, programs);
const real = realCgroup();
afterEach(() => {
  if (real !== null) removeGroups(real);
});

/** One of our own below the system's, where that can be had. */
function realCgroup(): string | null {
  const mount = /^\S+ (\S+) cgroup2 /m.exec(fs.readFileSync("/proc/self/mounts", "utf8"))?.[1];
  if (mount === undefined) return null;
  const directory = path.join(mount, `kron-test-${process.pid}`);
  try {
    fs.mkdirSync(directory);
    fs.rmdirSync(directory);
    return directory;
  } catch {
    return null;
  }
}

function removeGroups(directory: string): void {
  if (!fs.existsSync(directory)) return;
  for (const name of fs.readdirSync(directory)) {
    if (fs.statSync(path.join(directory, name)).isDirectory()) removeGroups(path.join(directory, name));
  }
  try {
    fs.rmdirSync(directory);
  } catch {
    // Somebody is still in it: the machine has one empty directory more.
  }
}

describe("krond start --cgroup-root", () => {
  test("what is no control group exits with 1", async () => {
    const here = place(job("t/a", "true"));
    const krond = startKrond(here.config, here.state, ["--cgroup-root", here.root]);
    expect(await krond.ended).toBe(1);
    expect(krond.stderr).toContain("no control group");
  });

  test("S28: each run gets a group below it", async () => {
    const here = place(job("t/a", "sleep 60"));
    const root = path.join(here.root, "group");
    fs.mkdirSync(root);
    fs.writeFileSync(path.join(root, "cgroup.procs"), "");
    const krond = startKrond(here.config, here.state, ["--cgroup-root", root]);
    await krond.ready();
    here.kron("run", "t/a");
    const { pid, attempt_id: attempt } = await krond.event("started", { identity: "t/a" });
    expect(fs.readFileSync(path.join(root, `kron-${String(attempt)}`, "cgroup.procs"), "utf8")).toBe(String(pid));
  });

  test.skipIf(real === null)(
    `S28: who leaves group, parent and environment behind is ended too${real === null ? " (skipped: no cgroup2 to write to)" : ""}`,
    async () => {
      const root = real ?? "";
      fs.mkdirSync(root);
      const here = place("");
      const pidFile = path.join(here.root, "pid");
      const flight = `setsid env -i /bin/sh -c "echo \\$\\$ > ${pidFile}; exec sleep 300"`;
      here.write(job("t/flees", `(${flight} &) ; sleep 300`));
      const krond = startKrond(here.config, here.state, ["--cgroup-root", root]);
      await krond.ready();
      here.kron("run", "t/flees");
      await krond.event("started", { identity: "t/flees" });
      while (!fs.existsSync(pidFile) || fs.readFileSync(pidFile, "utf8") === "") {
        await new Promise((resolve) => setImmediate(resolve));
      }
      const fled = Number(fs.readFileSync(pidFile, "utf8"));
      expect(jobsOf(here.state)).not.toContain(fled);
      expect(here.kron("cancel", "t/flees").status).toBe(0);
      await krond.event("completed", { identity: "t/flees", reason: "cancelled" });
      expect(fs.existsSync(`/proc/${fled}/cmdline`) && fs.readFileSync(`/proc/${fled}/cmdline`, "utf8") !== "").toBe(
        false,
      );
      await krond.kill("SIGTERM");
    },
  );
});
