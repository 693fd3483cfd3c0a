import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { describe, expect, test } from "vitest";
import { createNotifier, type Notifier, type NotifierOptions } from "../../../src/krond/boot/notify.js";
import { temporaryDirectories } from "../../support/temporary.js";

const newDirectory = temporaryDirectories();

/** A `systemd-notify` that writes down what it is told. */
function fakeSystemd(): { readonly env: Record<string, string>; messages(): readonly string[] } {
  const directory = newDirectory();
  const record = path.join(directory, "record");
  const script = `#!/bin/sh\nprintf '%s|' "$NOTIFY_SOCKET" "$@" >> ${record}\necho >> ${record}\n`;
  fs.writeFileSync(path.join(directory, "systemd-notify"), script, { mode: 0o755 });
  fs.writeFileSync(record, "");
  return {
    env: { PATH: `${directory}:/usr/bin:/bin`, NOTIFY_SOCKET: "/run/x" },
    messages: () =>
      fs
        .readFileSync(record, "utf8")
        .split("\n")
        .filter((line) => line !== ""),
  };
}

function notifier(env: NotifierOptions["env"], troubles: string[] = []): Notifier {
  return createNotifier({
    env,
    pid: 4711,
    monotonicMs: () => 12_345.678,
    onTrouble: (message) => void troubles.push(message),
  });
}

describe("what systemd is told", () => {
  test("every message, in order; the one who sends them ends with the daemon", async () => {
    const systemd = fakeSystemd();
    const troubles: string[] = [];
    const it = notifier(systemd.env, troubles);
    it.ready("12 jobs");
    it.watchdog();
    it.reloading();
    it.ready("3 jobs\nbeside\t$(id) * `id`");
    it.stopping();
    await it.close();
    it.watchdog();
    expect(systemd.messages()).toEqual([
      "/run/x|READY=1|STATUS=12 jobs|",
      "/run/x|WATCHDOG=1|",
      "/run/x|RELOADING=1|MONOTONIC_USEC=12345678|",
      "/run/x|READY=1|STATUS=3 jobs beside $(id) * `id`|",
      "/run/x|STOPPING=1|",
    ]);
    expect(troubles).toEqual([]);
  });

  test("nothing without NOTIFY_SOCKET", async () => {
    const { NOTIFY_SOCKET: _gone, ...env } = fakeSystemd().env;
    const it = notifier(env);
    it.ready();
    it.watchdog();
    expect(it.watchdogMs).toBeNull();
    await it.close();
  });

  test("a system without systemd-notify: nothing is told, and nothing breaks", async () => {
    const troubles: string[] = [];
    const it = notifier({ PATH: newDirectory(), NOTIFY_SOCKET: "/run/x" }, troubles);
    it.ready();
    await it.close();
    expect(troubles).toEqual([]);
  });

  test.each([
    [{ WATCHDOG_USEC: "60000000", WATCHDOG_PID: "4711" }, 30_000],
    [{ WATCHDOG_USEC: "60000000" }, 30_000],
    [{ WATCHDOG_USEC: "60000000", WATCHDOG_PID: "4712" }, null],
    [{ WATCHDOG_USEC: "soon" }, null],
    [{ WATCHDOG_USEC: "0" }, null],
    [{}, null],
  ])("%j: a sign of life every %s ms", async (env, expected) => {
    const it = notifier({ ...fakeSystemd().env, ...env });
    expect(it.watchdogMs).toBe(expected);
    await it.close();
  });

  const hasBoth = ["systemd-notify", "perl"].every((name) => spawnSync(name, ["--version"]).status === 0);

  test.skipIf(!hasBoth)(
    `with the real systemd-notify and a real socket${hasBoth ? "" : " (skipped: needs both and perl)"}`,
    async () => {
      const socket = path.join(newDirectory(), "notify");
      const receive = `use Socket; socket(S, AF_UNIX, SOCK_DGRAM, 0); bind(S, sockaddr_un($ARGV[0])); $| = 1; print "bound\\n";
      while (defined recv(S, $m, 4096, 0)) { next if $m =~ /BARRIER/; $m =~ s/\\n/|/g; print "$m\\n"; }`;
      const receiver = spawn("perl", ["-e", receive, socket], { stdio: ["ignore", "pipe", "inherit"] });
      const lines = createInterface({ input: receiver.stdout })[Symbol.asyncIterator]();
      expect((await lines.next()).value).toBe("bound");
      const it = notifier({ PATH: process.env["PATH"], NOTIFY_SOCKET: socket });
      it.ready("up");
      it.stopping();
      const received = [(await lines.next()).value, (await lines.next()).value];
      await it.close();
      receiver.kill();
      expect(received).toEqual([expect.stringMatching(/READY=1\|STATUS=up/), expect.stringMatching(/STOPPING=1/)]);
    },
  );
});

describe("the unit file", () => {
  const unit = fs.readFileSync("deploy/krond.service", "utf8");

  test.each([
    ["tells systemd itself when it is ready", "Type=notify"],
    ["lets its messenger speak for it", "NotifyAccess=all"],
    ["a reload is answered for by its exit status", "ExecReload=/usr/bin/krond reload --state /var/lib/krond"],
    ["S29: jobs outlive the daemon", "KillMode=process"],
    ["one job that runs out of memory does not stop the others", "OOMPolicy=continue"],
    ["S28: control groups for runs", "Delegate=yes"],
  ])("%s", (_title, line) => {
    expect(unit.split("\n")).toContain(line);
  });

  test("holds nothing back that jobs need: what is forbidden to the service is forbidden to them", () => {
    const hindering =
      /^(?:NoNewPrivileges|Protect\w+|Private\w+|Restrict\w+|SystemCall\w+|Capability\w+|MemoryDenyWriteExecute|LockPersonality|ReadOnlyPaths|InaccessiblePaths|IPAddress\w+|Memory(?:Max|High))=/m;
    expect(unit).not.toMatch(hindering);
  });

  const hasAnalyze = spawnSync("systemd-analyze", ["--version"]).status === 0;

  test.skipIf(!hasAnalyze)(
    `systemd has nothing against it${hasAnalyze ? "" : " (skipped: no systemd-analyze)"}`,
    () => {
      const file = path.join(newDirectory(), "krond.service");
      // The command need not be installed where the tests run.
      fs.writeFileSync(file, unit.replaceAll("/usr/bin/krond", "/bin/true"));
      const { stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", "--recursive-errors=no", file], {
        encoding: "utf8",
      });
      expect(stderr.split("\n").filter((line) => line.includes("krond.service"))).toEqual([]);
    },
  );
});
