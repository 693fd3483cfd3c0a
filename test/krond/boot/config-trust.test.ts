import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfiguration } from "../../../src/actors/pool/load/configuration.js";
import { privateGroupOf, userIdOf } from "../../../src/krond/boot/accounts.js";
import { configTrust, type TrustRules, trustRules } from "../../../src/krond/boot/config-trust.js";
import { bundleEntry } from "../../support/bundle.js";
import { temporaryDirectories } from "../../support/temporary.js";

const newDirectory = temporaryDirectories();
const uid = process.geteuid?.() ?? 0;
const isRoot = uid === 0;
const needsRoot = isRoot ? "" : " (skipped: only root can change owners)";
const canMount = isRoot && spawnSync("unshare", ["-m", "true"]).status === 0;
const needsMount = canMount ? "" : " (skipped: needs mount privileges)";
const STRANGER = 4711;

const RULES: TrustRules = { daemonUid: uid, trustedUids: [], privateGid: null };
const JOB = '{"identity":"a","schedule":"@daily","command":["x"]}\n';

function write(directory: string, name = "jobs.jsonl", mode = 0o644): string {
  const file = path.join(directory, name);
  fs.writeFileSync(file, JOB);
  fs.chmodSync(file, mode);
  return file;
}

function directoryIn(parent: string, name: string, mode = 0o755): string {
  const directory = path.join(parent, name);
  fs.mkdirSync(directory);
  fs.chmodSync(directory, mode);
  return directory;
}

/** How many jobs were read, and what was refused. */
async function load(file: string, rules: TrustRules = RULES): Promise<{ jobs: number; findings: readonly string[] }> {
  const { jobs, findings } = await loadConfiguration([{ path: file, name: file }], configTrust(rules));
  const refused = findings.map(({ located }) => `${located.problem.code}: ${located.problem.message}`);
  return { jobs: jobs.length, findings: refused };
}

const ACCEPTED = { jobs: 1, findings: [] };
const refusal = (message: string): object => ({ jobs: 0, findings: [`config-untrusted: ${message}`] });

describe("who may tell the daemon what to run", () => {
  test("the daemon's own user", async () => {
    expect(await load(write(newDirectory()))).toEqual(ACCEPTED);
  });

  test.each([0o640, 0o600, 0o755, 0o400])("mode %o: nobody else may write", async (mode) => {
    expect(await load(write(newDirectory(), "jobs.jsonl", mode))).toEqual(ACCEPTED);
  });

  test.each([0o664, 0o646, 0o666, 0o620, 0o602])("mode %o: refused, nothing of it is read", async (mode) => {
    const file = write(newDirectory(), "jobs.jsonl", mode);
    const octal = mode.toString(8).padStart(4, "0");
    expect(await load(file)).toEqual(refusal(`${file} may be written by others than its owner (mode ${octal})`));
  });

  test.skipIf(!isRoot)(`a stranger's file is refused, and accepted with --trust-owner${needsRoot}`, async () => {
    const file = write(newDirectory());
    fs.chownSync(file, STRANGER, STRANGER);
    expect(await load(file)).toEqual(refusal(`${file} belongs to user ${STRANGER}`));
    expect(await load(file, { ...RULES, trustedUids: [STRANGER] })).toEqual(ACCEPTED);
  });

  test.skipIf(!isRoot)(`root is trusted by everybody, the user of another daemon is not${needsRoot}`, async () => {
    const directory = newDirectory();
    const [own, other] = [write(directory), write(directory, "other.jsonl")];
    fs.chownSync(other, STRANGER, STRANGER);
    expect(await load(own, { ...RULES, daemonUid: STRANGER })).toEqual(ACCEPTED);
    expect(await load(other, { ...RULES, daemonUid: STRANGER + 1 })).toEqual(
      refusal(`${other} belongs to user ${STRANGER}`),
    );
  });

  test("a group that is the user's alone may write", async () => {
    const file = write(newDirectory(), "jobs.jsonl", 0o664);
    expect(await load(file, { ...RULES, privateGid: fs.statSync(file).gid })).toEqual(ACCEPTED);
    fs.chmodSync(file, 0o666);
    expect((await load(file, { ...RULES, privateGid: fs.statSync(file).gid })).jobs).toBe(0);
  });

  test("root relies on no private group", () => {
    expect(trustRules([7])).toEqual({
      daemonUid: uid,
      trustedUids: [7],
      privateGid: isRoot ? null : privateGroupOf(uid),
    });
  });
});

describe("the way to the file", () => {
  test("a directory that others may write is refused: they could put another file in its place", async () => {
    const open = directoryIn(newDirectory(), "open", 0o775);
    expect(await load(write(open))).toEqual(refusal(`${open} may be written by others than its owner (mode 0775)`));
  });

  test("also further up", async () => {
    const open = directoryIn(newDirectory(), "open", 0o777);
    const file = write(directoryIn(open, "closed"));
    expect(await load(file)).toEqual(refusal(`${open} may be written by others than its owner (mode 0777)`));
  });

  test("a sticky directory such as /tmp keeps what trusted owners put into it", async () => {
    const sticky = directoryIn(newDirectory(), "tmp", 0o1777);
    expect(await load(write(sticky))).toEqual(ACCEPTED);
  });

  test.skipIf(!isRoot)(`but not what strangers put into it${needsRoot}`, async () => {
    const sticky = directoryIn(newDirectory(), "tmp", 0o1777);
    const elsewhere = write(newDirectory());
    const link = path.join(sticky, "jobs.jsonl");
    fs.symlinkSync(elsewhere, link);
    fs.lchownSync(link, STRANGER, STRANGER);
    expect(await load(link)).toEqual(refusal(`${link} belongs to user ${STRANGER}`));
  });

  test.skipIf(!isRoot)(`a stranger's directory is refused although the file is root's${needsRoot}`, async () => {
    const theirs = directoryIn(newDirectory(), "theirs");
    const file = write(theirs);
    fs.chownSync(theirs, STRANGER, STRANGER);
    expect(await load(file)).toEqual(refusal(`${theirs} belongs to user ${STRANGER}`));
  });

  test("links are followed, as ConfigMaps have them", async () => {
    const mount = newDirectory();
    const version = directoryIn(mount, "..2026_11_18");
    write(version);
    fs.symlinkSync("..2026_11_18", path.join(mount, "..data"));
    fs.symlinkSync("..data/jobs.jsonl", path.join(mount, "jobs.jsonl"));
    expect(await load(path.join(mount, "jobs.jsonl"))).toEqual(ACCEPTED);
    expect(await load(mount)).toEqual(ACCEPTED);
  });

  test.each([
    ["relative", (to: string, from: string) => path.relative(path.dirname(from), to)],
    ["absolute", (to: string) => to],
  ])("every directory that a link leads through is judged: %s", async (_title, targetOf) => {
    const base = newDirectory();
    const open = directoryIn(base, "open", 0o777);
    write(directoryIn(open, "in"));
    const link = path.join(base, "jobs.jsonl");
    fs.symlinkSync(targetOf(path.join(open, "in", "jobs.jsonl"), link), link);
    expect(await load(link)).toEqual(refusal(`${open} may be written by others than its owner (mode 0777)`));
  });

  test("a link that lies in an open directory is no better than what it points to", async () => {
    const base = newDirectory();
    const file = write(directoryIn(base, "closed"));
    const open = directoryIn(base, "open", 0o777);
    fs.symlinkSync(file, path.join(open, "jobs.jsonl"));
    expect(await load(path.join(open, "jobs.jsonl"))).toEqual(
      refusal(`${open} may be written by others than its owner (mode 0777)`),
    );
  });

  test("a link through .. is walked as the system walks it", async () => {
    const base = newDirectory();
    write(base);
    const deep = directoryIn(directoryIn(base, "a"), "b");
    fs.symlinkSync(deep, path.join(base, "short"));
    fs.symlinkSync("short/../../jobs.jsonl", path.join(base, "link.jsonl"));
    expect(await load(path.join(base, "link.jsonl"))).toEqual(ACCEPTED);
  });

  test("links in a circle end", async () => {
    const base = newDirectory();
    fs.symlinkSync("b.jsonl", path.join(base, "a.jsonl"));
    fs.symlinkSync("a.jsonl", path.join(base, "b.jsonl"));
    expect((await load(path.join(base, "a.jsonl"))).findings[0]).toMatch(
      /^config-unreadable: its links lead round in a circle/,
    );
  });
});

describe("a directory of configuration", () => {
  test("that others may write is refused as a whole, sticky or not: they could add to it", async () => {
    for (const mode of [0o777, 0o1777]) {
      const open = directoryIn(newDirectory(), "krond.d", mode);
      write(open);
      const octal = mode.toString(8).padStart(4, "0");
      expect(await load(open)).toEqual(refusal(`${open} may be written by others than its owner (mode ${octal})`));
    }
  });

  test("one bad file is refused, the others are read", async () => {
    const directory = newDirectory();
    write(directory, "a.jsonl");
    const bad = write(directory, "b.jsonl", 0o666);
    expect(await load(directory)).toEqual({
      jobs: 1,
      findings: [`config-untrusted: ${bad} may be written by others than its owner (mode 0666)`],
    });
  });

  test.skipIf(!canMount)(`modes do not matter on a read-only mount, where nobody can write${needsMount}`, async () => {
    const probe = await bundleEntry("test/krond/process/trust-probe.ts");
    const directory = directoryIn(newDirectory(), "mount", 0o777);
    write(directory, "jobs.jsonl", 0o666);
    const run = (mount: string): unknown => {
      const script = `mount --bind "$1" "$1" && ${mount} && exec "$2" "$3" "$1"`;
      const argv = ["-m", "sh", "-c", script, "sh", directory, process.execPath, probe.file];
      return JSON.parse(spawnSync("unshare", argv, { encoding: "utf8" }).stdout);
    };
    try {
      expect(run('mount -o remount,ro,bind "$1"')).toEqual({ jobs: 1, findings: [] });
      expect(run("true")).toEqual({ jobs: 0, findings: ["config-untrusted"] });
    } finally {
      probe.remove();
    }
  });
});

describe("without a check", () => {
  test("everything is read: commands for people do not start anything", async () => {
    const file = write(newDirectory(), "jobs.jsonl", 0o666);
    const { jobs, findings } = await loadConfiguration([{ path: file, name: file }]);
    expect([jobs.length, findings.length]).toEqual([1, 0]);
  });

  test("a named pipe is refused and does not hold anybody up", async () => {
    const pipe = path.join(newDirectory(), "jobs.yaml");
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    const { findings } = await loadConfiguration([{ path: pipe, name: pipe }]);
    expect(findings.map(({ located }) => located.problem.message)).toEqual(["is not a regular file"]);
  });

  test("a crontab is read with the rules that come with it, and reported line by line", async () => {
    const file = write(newDirectory(), "tab");
    fs.writeFileSync(file, "MAILTO=x\n@daily root a\n@later root b\n");
    const crontab = { form: "system", timezone: "UTC", owner: null } as const;
    const { jobs, findings, crontabs, files } = await loadConfiguration([{ path: file, name: "tab", crontab }]);
    expect(files).toEqual(["tab"]);
    expect(jobs.map(({ line }) => line)).toEqual([2]);
    expect(findings.map(({ located, sourceLine }) => [located.line, sourceLine])).toEqual([[3, "@later root b"]]);
    expect(crontabs[0]?.lines.map(({ verdict }) => verdict)).toEqual(["noted", "same", "unsupported"]);
  });
});

describe("users and groups", () => {
  test.each([
    ["root", 0],
    ["0", 0],
    ["4711", 4711],
    ["no-such-user-here", null],
    ["-u", null],
    ["99999999999", null],
    ["", null],
  ])("the number of %j is %s", (name, expected) => {
    expect(userIdOf(name)).toBe(expected);
  });

  test("a user that does not exist has no private group", () => {
    expect(privateGroupOf(4_000_000_000)).toBeNull();
  });
});
