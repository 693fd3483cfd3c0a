import { spawnSync } from "node:child_process";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type AccountSources, Accounts } from "../../../../src/actors/launcher/child/accounts.js";
import { type HelperResult, runHelper } from "../../../../src/actors/launcher/child/helper.js";
import { bundleEntry } from "../../../support/bundle.js";
import { isRoot, ROOT_ONLY } from "../../../support/launcher.js";
import { testProcesses } from "../../../support/process.js";

const PASSWD = "root:x:0:0::/root:/bin/sh\nbackup:x:34:34::/var/backups:/bin/sh\n";
const ANSWERED: HelperResult = { status: 0, output: "34 35\n", refusal: null };

function fault(code: string): Error {
  return Object.assign(new Error(code), { code });
}

/** A system whose answers come one after the other; the last one stays. */
function system(texts: readonly (string | Error)[], answers: readonly HelperResult[]): AccountSources {
  const asked = { texts: 0, runs: 0 };
  return {
    readText: () => {
      const text = texts[Math.min(asked.texts++, texts.length - 1)] ?? "";
      if (text instanceof Error) throw text;
      return text;
    },
    run: async () => answers[Math.min(asked.runs++, answers.length - 1)] ?? ANSWERED,
  };
}

function unspawned(code: "fork-failed" | "descriptors-exhausted"): HelperResult {
  return { status: null, output: "", refusal: { code, message: "id cannot be run" } };
}

const ended = (status: number): HelperResult => ({ status, output: "", refusal: null });

interface Row {
  readonly name: string;
  readonly user: string;
  readonly texts: readonly (string | Error)[];
  readonly answers: readonly HelperResult[];
  readonly code: string;
}

const passing: readonly Row[] = [
  {
    name: "EAGAIN for id",
    user: "backup",
    texts: [PASSWD],
    answers: [unspawned("fork-failed"), ANSWERED],
    code: "fork-failed",
  },
  {
    name: "EMFILE for id",
    user: "backup",
    texts: [PASSWD],
    answers: [unspawned("descriptors-exhausted"), ANSWERED],
    code: "descriptors-exhausted",
  },
  {
    name: "EMFILE for /etc/passwd",
    user: "backup",
    texts: [fault("EMFILE"), PASSWD],
    answers: [ANSWERED],
    code: "descriptors-exhausted",
  },
  { name: "id fails", user: "backup", texts: [PASSWD], answers: [ended(127), ANSWERED], code: "privilege-drop-failed" },
  {
    name: "EAGAIN for getent",
    user: "remote",
    texts: [PASSWD],
    answers: [unspawned("fork-failed"), { ...ANSWERED, output: "remote:x:9:9::/:/bin/sh\n" }, ANSWERED],
    code: "fork-failed",
  },
  {
    name: "a directory that does not answer",
    user: "remote",
    texts: [PASSWD],
    answers: [ended(1), { ...ANSWERED, output: "remote:x:9:9::/:/bin/sh\n" }, ANSWERED],
    code: "privilege-drop-failed",
  },
  {
    name: "a user that is made a moment later",
    user: "new",
    texts: [PASSWD, `${PASSWD}new:x:7:7::/:/bin/sh\n`],
    answers: [ended(2), ANSWERED],
    code: "user-unknown",
  },
];

describe("S24: what the system refuses is no unknown user, and is not remembered", () => {
  test.each(passing)("$name: $code, and the next time it is asked again", async ({ user, texts, answers, code }) => {
    const accounts = new Accounts(system(texts, answers));
    expect(await accounts.userOf(user)).toMatchObject({ ok: false, error: { code } });
    expect(await accounts.userOf(user)).toMatchObject({ ok: true, value: { name: user } });
  });

  test("groups: EMFILE is no unknown group", async () => {
    const accounts = new Accounts(system([fault("EMFILE"), "adm:x:4:\n"], []));
    expect(await accounts.groupOf("adm")).toMatchObject({ ok: false, error: { code: "descriptors-exhausted" } });
    expect(await accounts.groupOf("adm")).toEqual({ ok: true, value: 4 });
  });

  test("an answer is kept, and shared by all who ask meanwhile", async () => {
    let runs = 0;
    const run = async (): Promise<HelperResult> => {
      runs += 1;
      return ANSWERED;
    };
    const accounts = new Accounts({ readText: () => PASSWD, run });
    await Promise.all([accounts.userOf("backup"), accounts.userOf("backup")]);
    await accounts.userOf("backup");
    expect(runs).toBe(1);
  });

  test("a helper that is not there, and one that a signal ends, are refusals by name", async () => {
    expect(await runHelper("/no/such/helper", [])).toMatchObject({ refusal: { code: "command-not-found" } });
    const killed = await runHelper("/bin/sh", ["-c", "kill -9 $$"]);
    expect(killed).toMatchObject({ status: null, refusal: { code: "privilege-drop-failed" } });
    expect(await runHelper("/bin/sh", ["-c", "exit 3"])).toEqual({ status: 3, output: "", refusal: null });
  });
});

describe("real limits", () => {
  const start = testProcesses();
  let probe: Awaited<ReturnType<typeof bundleEntry>>;
  beforeAll(async () => {
    probe = await bundleEntry("test/actors/launcher/process/account-probe.ts");
  });
  afterAll(() => probe.remove());

  test.skipIf(!isRoot)(`EAGAIN: no process may be created, and a moment later one may${ROOT_ONLY}`, async () => {
    // A user that runs nothing else: all that one runs counts towards the limit.
    const user = 2_000_000 + process.pid;
    const wrap = ["setpriv", `--reuid=${user}`, `--regid=${user}`, "--clear-groups", "--"];
    const it = start(probe.file, [], wrap);
    expect(await it.line()).toBe("ready");
    const ask = (): Promise<string | null> => {
      it.child.stdin?.write("nobody\n");
      return it.line();
    };
    // As the same user: only that one, or root with all its rights, may set the limits of a process.
    const allow = (processes: number): unknown =>
      spawnSync("setpriv", [...wrap.slice(1), "prlimit", "--pid", String(it.pid), `--nproc=${processes}:`]);
    allow(1);
    expect([await ask(), await ask()]).toEqual(["fork-failed", "fork-failed"]);
    allow(1000);
    expect(await ask()).toBe("found");
  });
});
