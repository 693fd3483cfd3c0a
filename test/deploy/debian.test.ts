/** The Debian package: built of what `npm pack` makes, installed into a root of its own, and run from there. */
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { allPages } from "../../src/cli/man/pages.js";
import { builtPrograms, killJobsOf, MARK, RunningKrond } from "../support/krond.js";
import { isRoot, ROOT_ONLY } from "../support/launcher.js";
import { temporaryDirectories } from "../support/temporary.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const programs = builtPrograms();
const newDirectory = temporaryDirectories();
const hasDpkg = spawnSync("dpkg-deb", ["--version"]).status === 0;
const NEEDS_DPKG = hasDpkg ? "" : " (skipped: dpkg-deb is not installed)";
const SCRIPTS = ["postinst", "prerm", "postrm"] as const;

function run(command: string, args: readonly string[], more: object = {}): string {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: "utf8", ...more });
  if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${status}\n${stdout}${stderr}${error ?? ""}`);
  return stdout;
}

let folder = "";
let deb = "";
/** Its files, as dpkg would put them. */
let tree = "";

/** What is packed is what was built for the tests: nothing else in the checkout is touched. */
function packed(): string {
  const staged = path.join(folder, "staged");
  fs.mkdirSync(staged);
  const { scripts: _none, ...rest } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8"));
  fs.writeFileSync(path.join(staged, "package.json"), JSON.stringify(rest));
  for (const name of ["deploy", "docs", "examples", "README.md", "ARCHITECTURE.md", "CHANGELOG.md", "LICENSE"]) {
    fs.cpSync(path.join(ROOT, name), path.join(staged, name), { recursive: true });
  }
  fs.cpSync(path.dirname(programs().krond), path.join(staged, "dist"), { recursive: true });
  fs.mkdirSync(path.join(staged, "dist/man"));
  for (const { file, text } of allPages()) fs.writeFileSync(path.join(staged, "dist/man", file), text);
  const [{ filename }] = JSON.parse(run("npm", ["pack", "--json", "--ignore-scripts"], { cwd: staged }));
  return path.join(staged, filename);
}

beforeAll(() => {
  if (!hasDpkg) return;
  folder = fs.mkdtempSync(path.join("/var/tmp", "kron-deb-test-"));
  fs.chmodSync(folder, 0o755);
  const args = ["scripts/build-deb.mjs", "--tarball", packed(), "--out", folder, "--compression", "none"];
  deb = run(process.execPath, args, { cwd: ROOT }).trim();
  tree = path.join(folder, "tree");
  run("dpkg-deb", ["-x", deb, tree]);
  run("dpkg-deb", ["-e", deb, path.join(folder, "control")]);
});

afterAll(() => fs.rmSync(folder, { recursive: true, force: true }));

describe("the Debian package", () => {
  test.skipIf(!hasDpkg)(`names its version, architecture and what it needs${NEEDS_DPKG}`, () => {
    const { version } = JSON.parse(fs.readFileSync(path.join(ROOT, "package.json"), "utf8")) as { version: string };
    const field = (name: string): string => run("dpkg-deb", ["-f", deb, name]).trim();
    expect(field("Version")).toBe(version);
    expect(field("Depends")).toContain("nodejs (>= 20.19)");
    expect(Number(field("Installed-Size"))).toBeGreaterThan(1_000);
    expect(fs.readFileSync(path.join(folder, "control/conffiles"), "utf8")).toBe("/etc/krond.d/jobs.yaml\n");
  });

  test.skipIf(!hasDpkg)(`every file is root's, and nobody else may write one${NEEDS_DPKG}`, () => {
    const rows = run("dpkg-deb", ["-c", deb], { maxBuffer: 2 ** 26 })
      .trimEnd()
      .split("\n");
    expect(rows.length).toBeGreaterThan(100);
    expect(rows.filter((row) => !/^(?:[-d][rwx-]{4}-[rx-]{2}-[rx-] |l)\S* ?root\/root /.test(row))).toEqual([]);
  });

  test.skipIf(!hasDpkg)(`unit, manual and completions lie where Debian looks for them${NEEDS_DPKG}`, () => {
    const unit = fs.readFileSync(path.join(tree, "usr/lib/systemd/system/krond.service"), "utf8");
    for (const [, program = ""] of unit.matchAll(/^Exec\w+=(\S+)/gm)) {
      expect(fs.statSync(path.join(tree, program)).mode & 0o111, program).toBe(0o111);
    }
    const pages = fs.readdirSync(path.join(tree, "usr/share/man/man1"));
    expect(pages.sort()).toEqual(
      allPages()
        .map(({ file }) => `${file}.gz`)
        .sort(),
    );
    expect(fs.readFileSync(path.join(tree, "usr/share/bash-completion/completions/krond"), "utf8")).toContain("krond");
    expect(fs.existsSync(path.join(tree, "usr/share/zsh/vendor-completions/_kron"))).toBe(true);
  });

  test.skipIf(!hasDpkg)(
    `its programs run from where it has put them: a job runs and is recorded${NEEDS_DPKG}`,
    async () => {
      const [root, bin] = [newDirectory(), path.join(tree, "usr/bin")];
      const state = path.join(root, "state");
      const config = path.join(root, "jobs.yaml");
      const job = `{ identity: t/a, schedule: "0 0 1 1 *", command: ["true"], env: { ${MARK}: "${state}" } }`;
      fs.writeFileSync(config, `jobs:\n  - ${job}\n`, { mode: 0o644 });
      const argv = ["start", "--config", config, "--state", state, "--log-format", "json"];
      const krond = new RunningKrond(spawn(path.join(bin, "krond"), argv, { stdio: ["ignore", "pipe", "pipe"] }));
      try {
        await krond.ready();
        run(path.join(bin, "kron"), ["run", "t/a", "--state", state]);
        expect(await krond.event("completed", { identity: "t/a" })).toMatchObject({ exit_code: 0 });
        expect(await krond.kill("SIGTERM")).toBe(0);
      } finally {
        await krond.kill();
        killJobsOf(state);
      }
      expect(run(path.join(bin, "kron-operator"), ["--version"])).toMatch(/^kron-operator \d/);
    },
  );

  test.skipIf(!hasDpkg)(
    `krond starts with the job file as it comes, and lint finds nothing in it${NEEDS_DPKG}`,
    async () => {
      const root = newDirectory();
      fs.cpSync(path.join(tree, "etc/krond.d"), path.join(root, "krond.d"), { recursive: true });
      expect(run(path.join(tree, "usr/bin/kron"), ["lint", path.join(root, "krond.d")])).toContain("0 jobs, 0 errors");
      const argv = ["start", "--config", path.join(root, "krond.d"), "--state", path.join(root, "state")];
      const child = spawn(path.join(tree, "usr/bin/krond"), [...argv, "--log-format", "json"], {
        stdio: ["ignore", "pipe", "pipe"],
      });
      const krond = new RunningKrond(child);
      try {
        expect(await krond.ready()).toMatchObject({ jobs: 0 });
      } finally {
        await krond.kill("SIGTERM");
      }
    },
  );
});

describe("its maintainer scripts", () => {
  const calls: readonly (readonly [script: string, ...args: string[]])[] = [
    ["postinst", "configure", ""],
    ["postinst", "configure", "0.0.9"],
    ["postinst", "abort-upgrade", "0.0.9"],
    ["prerm", "remove"],
    ["prerm", "upgrade", "0.2.0"],
    ["postrm", "remove"],
    ["postrm", "purge"],
  ];

  test.skipIf(!hasDpkg).each(calls)(`%s %s never fails, whatever does${NEEDS_DPKG}`, (script, ...args) => {
    const [root, bin] = [newDirectory(), newDirectory()];
    for (const name of ["useradd", "systemctl", "getent", "grep", "rm"]) {
      fs.writeFileSync(path.join(bin, name), "#!/bin/sh\nexit 1\n", { mode: 0o755 });
    }
    const { status } = spawnSync("/bin/sh", ["-u", path.join(folder, "control", script), ...args], {
      env: { PATH: bin, DPKG_ROOT: root },
    });
    expect(status).toBe(0);
  });

  test.skipIf(!hasDpkg || !isRoot)(
    `dpkg installs it into a root of its own, with its user, and purges it with its state${NEEDS_DPKG || ROOT_ONLY}`,
    () => {
      const root = path.join(folder, "root");
      fs.mkdirSync(path.join(root, "var/lib/dpkg/updates"), { recursive: true });
      fs.mkdirSync(path.join(root, "var/lib/dpkg/info"));
      fs.writeFileSync(path.join(root, "var/lib/dpkg/status"), "");
      fs.mkdirSync(path.join(root, "etc"));
      for (const name of ["passwd", "group", "shadow", "gshadow"]) fs.writeFileSync(path.join(root, "etc", name), "");
      const dpkg = (...args: readonly string[]): string =>
        run("dpkg", [`--root=${root}`, "--force-script-chrootless", "--force-depends", "--log=/dev/null", ...args]);
      dpkg("--install", deb);
      expect(dpkg("--status", "kron")).toContain("Status: install ok installed");
      expect(fs.readFileSync(path.join(root, "etc/passwd"), "utf8")).toMatch(/^kron:.*:\/usr\/sbin\/nologin$/m);
      const state = path.join(root, "var/lib/krond");
      fs.mkdirSync(state, { recursive: true });
      // What an administrator has changed is not overwritten by the next version.
      const jobs = path.join(root, "etc/krond.d/jobs.yaml");
      fs.appendFileSync(jobs, "# mine\n");
      dpkg("--force-confdef", "--force-confold", "--install", deb);
      expect(fs.readFileSync(jobs, "utf8")).toContain("# mine");
      dpkg("--remove", "kron");
      expect([fs.existsSync(path.join(root, "usr/bin/krond")), fs.existsSync(state)]).toEqual([false, true]);
      dpkg("--purge", "kron");
      expect([fs.existsSync(jobs), fs.existsSync(state)]).toEqual([false, false]);
    },
  );

  test.skipIf(!hasDpkg)(`the scripts are the ones of the repository${NEEDS_DPKG}`, () => {
    for (const name of SCRIPTS) {
      const text = fs.readFileSync(path.join(folder, "control", name), "utf8");
      expect(text).toBe(fs.readFileSync(path.join(ROOT, "deploy/debian", name), "utf8"));
    }
  });
});
