import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { acquireDirectoryLock, acquireMemoryLock, assertHeld, type LockTerm } from "../../src/persist/lock.js";
import { bundleEntry } from "../support/bundle.js";
import { testProcesses } from "../support/process.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();
const start = testProcesses();
const isRoot = process.geteuid?.() === 0;
const canMount = isRoot && spawnSync("unshare", ["-m", "true"]).status === 0;

function held(directory: string): LockTerm {
  const lock = acquireDirectoryLock(directory);
  if (!lock.ok) throw lock.error;
  return lock.value;
}

function codeOf(directory: string, helpers?: readonly string[]): string {
  const lock = acquireDirectoryLock(directory, helpers);
  if (!lock.ok) return lock.error.code;
  lock.value.release();
  return "held";
}

/** What a process that knows nothing of ours sees: 0 free, 1 held. */
function strangerStatus(directory: string): number | null {
  return spawnSync("flock", ["-n", "-x", directory, "true"]).status;
}

describe("acquiring", () => {
  test("S31: creates a missing directory with mode 0700", () => {
    const directory = path.join(newDirectory(), "deep", "state");
    held(directory).release();
    expect(fs.statSync(directory).mode & 0o7777).toBe(0o700);
  });

  test("S33: a second holder is refused at once, in this process and in any other", () => {
    const directory = newDirectory();
    const term = held(directory);
    expect([codeOf(directory), strangerStatus(directory)]).toEqual(["lock-held", 1]);
    term.release();
    expect([codeOf(directory), strangerStatus(directory)]).toEqual(["held", 0]);
  });

  test("S33, R9: whatever path leads to the directory", () => {
    const parent = newDirectory();
    const directory = path.join(parent, "state");
    fs.mkdirSync(directory, { mode: 0o700 });
    fs.symlinkSync(parent, path.join(parent, "link"));
    const term = held(directory);
    const ways = [
      `${directory}/`,
      `${parent}//./state`,
      path.join(parent, "link", "state"),
      path.relative(".", directory),
    ];
    expect(ways.map((way) => codeOf(way))).toEqual(ways.map(() => "lock-held"));
    term.release();
  });

  test.skipIf(!canMount)(
    "S33, R9: also through a bind mount in another mount namespace (needs mount privileges)",
    () => {
      const directory = newDirectory();
      const elsewhere = newDirectory();
      const term = held(directory);
      const script = 'mount --bind "$1" "$2" && exec flock -n -x "$2" true';
      expect(spawnSync("unshare", ["-m", "sh", "-c", script, "sh", directory, elsewhere]).status).toBe(1);
      term.release();
    },
  );
});

describe("S31: a directory that is not exactly ours is refused", () => {
  const rows: readonly { name: string; make: (parent: string) => string }[] = [
    { name: "a link", make: (parent) => link(parent) },
    { name: "a link with a trailing slash", make: (parent) => `${link(parent)}/` },
    { name: "a file", make: (parent) => write(parent) },
    { name: "a directory others may read", make: (parent) => withMode(parent, 0o755) },
    { name: "a directory others may write", make: (parent) => withMode(parent, 0o770) },
    { name: "a directory with a sticky bit", make: (parent) => withMode(parent, 0o1700) },
  ];
  for (const row of rows) {
    test(row.name, () => expect(codeOf(row.make(newDirectory()))).toBe("state-permissions"));
  }

  test.skipIf(!isRoot)("a directory of another user (needs root)", () => {
    const directory = newDirectory();
    fs.chownSync(directory, 65_534, 65_534);
    expect(codeOf(directory)).toBe("state-permissions");
    expect(hintOf(directory)).toBe(`run this as user 65534, or: chown 0 ${directory} && chmod 0700 ${directory}`);
  });

  test("setgid, as below a volume with a group, permits nothing to anybody: the directory is ours alone all the same", () => {
    const volume = withMode(newDirectory(), 0o2770);
    const state = path.join(volume, "krond");
    expect(codeOf(state)).toBe("held");
    expect(fs.statSync(state).mode & 0o7777).toBe(0o2700);
    expect(codeOf(state)).toBe("held");
    fs.chmodSync(state, 0o2750);
    expect(codeOf(state)).toBe("state-permissions");
  });

  test("says what mends it: of a directory for all, of one that others may write, of one that cannot be made", () => {
    const [open, shared] = [withMode(newDirectory(), 0o755), withMode(newDirectory(), 0o777)];
    expect(hintOf(open)).toBe(`chmod 0700 ${open}; of a unit of systemd: StateDirectoryMode=0700`);
    const inside = `--state ${path.join(shared, "krond")}`;
    expect(hintOf(shared)).toBe(
      `chmod 0700 ${shared}, or name a directory inside that krond makes for itself: ${inside}`,
    );
    expect(codeOf(path.join(shared, "krond"))).toBe("held");
    // What `fsGroupChangePolicy: Always` makes of a directory that was ours alone.
    const opened = withMode(newDirectory(), 0o2770);
    expect(hintOf(opened)).toContain(`chmod -R go= ${opened}; in a pod: fsGroupChangePolicy: OnRootMismatch`);
    spawnSync("chmod", ["-R", "go=", opened]);
    expect(codeOf(opened)).toBe("held");
  });

  function hintOf(directory: string): string | undefined {
    const lock = acquireDirectoryLock(directory);
    return lock.ok ? "held" : lock.error.hint;
  }

  function link(parent: string): string {
    fs.mkdirSync(path.join(parent, "state"), { mode: 0o700 });
    fs.symlinkSync("state", path.join(parent, "link"));
    return path.join(parent, "link");
  }
  function write(parent: string): string {
    fs.writeFileSync(path.join(parent, "file"), "", { mode: 0o600 });
    return path.join(parent, "file");
  }
  function withMode(parent: string, mode: number): string {
    fs.chmodSync(parent, mode);
    return parent;
  }
});

describe("ERROR-MODEL, SystemError: lock acquisition fails", () => {
  const rows: readonly { name: string; helpers: readonly string[]; message: RegExp }[] = [
    { name: "no helper on this machine", helpers: ["/nonexistent/flock"], message: /flock command is missing/ },
    { name: "a helper that fails", helpers: ["/bin/sh"], message: /\/bin\/sh failed/ },
    { name: "a helper that cannot be run", helpers: ["/etc/passwd"], message: /cannot run \/etc\/passwd/ },
  ];
  for (const row of rows) {
    test(row.name, () => {
      const lock = acquireDirectoryLock(newDirectory(), row.helpers);
      expect(lock.ok ? null : lock.error).toMatchObject({
        code: "lock-unavailable",
        category: "SystemError",
        isFatal: true,
        operation: "lock",
        message: expect.stringMatching(row.message),
      });
    });
  }
});

describe("the term", () => {
  test("a write with a released term is a broken invariant", () => {
    const directory = newDirectory();
    const term = held(directory);
    assertHeld(term, directory);
    term.release();
    term.release();
    expect(term.isReleased).toBe(true);
    expect(() => assertHeld(term, directory)).toThrow(/invariant broken: a write with a released lock term/);
  });

  test("a write with the term of another directory is a broken invariant", () => {
    const term = held(newDirectory());
    expect(() => assertHeld(term, "/elsewhere")).toThrow(/invariant broken: a write to \/elsewhere/);
    term.release();
  });

  test("memory: one term at a time for one place", () => {
    const place = {};
    const first = acquireMemoryLock(place);
    const second = acquireMemoryLock(place);
    expect([first.ok, second.ok ? "" : second.error.code, acquireMemoryLock({}).ok]).toEqual([true, "lock-held", true]);
    if (first.ok) first.value.release();
    expect(acquireMemoryLock(place).ok).toBe(true);
  });
});

describe("other processes", () => {
  let holder: { readonly file: string; remove(): void };
  beforeAll(async () => {
    holder = await bundleEntry(path.join(import.meta.dirname, "process/lock-holder.ts"));
  });
  afterAll(() => holder.remove());

  test("S33: SIGKILL of the holder frees the lock at once although its child lives on", async () => {
    const directory = newDirectory();
    const other = start(holder.file, [directory, "child"]);
    const said = JSON.parse((await other.line()) ?? "{}") as { held: string; child: number };
    expect([said.held, codeOf(directory)]).toEqual(["held", "lock-held"]);
    await other.kill("SIGKILL");
    process.kill(said.child, 0);
    expect(codeOf(directory)).toBe("held");
    process.kill(said.child, "SIGKILL");
  });

  test("R9: of eight that start at the same time exactly one becomes the holder", async () => {
    const directory = path.join(newDirectory(), "state");
    const others = Array.from({ length: 8 }, () => start(holder.file, [directory]));
    const said = await Promise.all(others.map(async (it) => JSON.parse((await it.line()) ?? "{}") as { held: string }));
    expect(said.map((it) => it.held).sort()).toEqual(["held", ...Array(7).fill("lock-held")]);
  });
});
