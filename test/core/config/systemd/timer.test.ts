import { describe, expect, test } from "vitest";
import type { SystemdReading } from "../../../../src/core/config/systemd/report.js";
import { parseTimeSpan } from "../../../../src/core/config/systemd/time-span.js";
import { readTimer, serviceNameOf } from "../../../../src/core/config/systemd/timer.js";
import { readUnit } from "../../../../src/core/config/systemd/unit.js";
import { splitWords } from "../../../../src/core/config/systemd/words.js";
import { definitionToRaw } from "../../../../src/core/job/schema.js";
import { requireErr, requireOk } from "../../../support/results.js";

const DAILY = "[Timer]\nOnCalendar=daily\n";
const TRUE = "[Service]\nType=oneshot\nExecStart=/bin/true\n";

interface Given {
  readonly timer?: string;
  readonly service?: string;
  readonly name?: string;
  readonly dropIn?: string;
  readonly isUser?: boolean;
}

function reading({ timer = DAILY, service = TRUE, name = "backup", dropIn, isUser = false }: Given): SystemdReading {
  const more = dropIn === undefined ? [] : [{ file: "override.conf", text: dropIn }];
  const unit = readUnit(`${name}.timer`, [{ file: "a.timer", text: timer }, ...more]);
  const target = readUnit(`${name}.service`, [{ file: "a.service", text: service }]);
  return readTimer(unit, target, { timezone: "Europe/Berlin", isUser });
}

/** The fields of the only job that are asked for. */
function job(given: Given, ...fields: readonly string[]): unknown {
  const { jobs, problems } = reading(given);
  expect(problems.map(({ problem }) => problem.message)).toEqual([]);
  expect(jobs.length).toBe(1);
  const raw = Object.fromEntries(jobs.flatMap((definition) => Object.entries(definitionToRaw(definition))));
  return Object.fromEntries(fields.map((field) => [field, raw[field]]));
}

function refusals(given: Given): readonly string[] {
  const { jobs, problems } = reading(given);
  expect(jobs).toEqual([]);
  return problems.map(({ file, line, problem }) => `${file}:${line}: ${problem.message}`);
}

function verdicts(given: Given): readonly string[] {
  return reading(given).lines.map(({ text, verdict, notes }) => [`${text}: ${verdict}`, ...notes].join(": "));
}

describe("a timer and its service as a job", () => {
  test("account, directory, search path, zone, clock changes, no second run: as systemd has them", () => {
    const fields = ["identity", "schedule", "timezone", "dst", "command", "user", "cwd", "env", "policy", "window"];
    expect(job({}, ...fields)).toEqual({
      identity: "backup",
      schedule: "0 0 * * *",
      timezone: "Europe/Berlin",
      dst: { gap: "skip", overlap: "first" },
      command: ["/bin/true"],
      user: "root",
      cwd: "/",
      env: { PATH: "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" },
      policy: { concurrency: "forbid", deadline: "1m", suspend: false },
      window: { mode: "after", duration: "0s" },
    });
  });

  test("units of a user run as that user, at home", () => {
    const fields = ["user", "cwd", "env"];
    expect(job({ isUser: true }, ...fields)).toEqual({ user: undefined, cwd: undefined, env: undefined });
  });

  test("User, Group, WorkingDirectory, Environment, UMask, timeouts and output", () => {
    const service = `[Unit]
Description=Dump of %i
[Service]
Type=oneshot
User=pg
Group=backup
WorkingDirectory=-/srv/%i
Environment=A=1 "B=two words" 'C=%%'
Environment=D=\\x41
UMask=0027
TimeoutStartSec=1h 30min
RuntimeMaxSec=2h
StandardOutput=journal
ExecStart=/usr/bin/dump --to "\${B}" $B %i
`;
    const fields = ["user", "group", "cwd", "env", "umask", "timeout", "command", "description", "output"];
    expect(job({ service, name: "dump@main" }, ...fields)).toMatchObject({
      user: "pg",
      group: "backup",
      cwd: "/srv/main",
      env: { A: "1", B: "two words", C: "%", D: "A" },
      umask: "027",
      timeout: "1h30m",
      command: ["/usr/bin/dump", "--to", "two words", "two", "words", "main"],
      description: "Dump of main",
      output: { to: "syslog" },
    });
  });

  test("RandomizedDelaySec is a window; it and the deadline stay within the period", () => {
    const timer = "[Timer]\nOnCalendar=*-*-* 6,18:00\nRandomizedDelaySec=20h\nFixedRandomDelay=true\nAccuracySec=1h\n";
    expect(job({ timer }, "window", "policy")).toMatchObject({
      window: { mode: "after", duration: "12h" },
      policy: { deadline: "12h" },
    });
    expect(verdicts({ timer }).slice(1, 4)).toEqual([
      "RandomizedDelaySec=20h: noted: becomes a window of 12h, not 20h, which would reach into the next period",
      "FixedRandomDelay=true: noted: each run gets a second of its own, always the same for the same period",
      "AccuracySec=1h: noted: not needed: each run starts in its chosen second",
    ]);
  });

  test.each([
    ["daily", "24h"],
    ["Mon..Fri 7:00", "72h"],
    ["*-*-* 6,18:00", "12h"],
    ["monthly", "744h"],
    ["*-02-29", "8784h"],
    ["*:0/15", "1h"],
  ])("Persistent makes up for what was missed, until the next one: %s, %s", (event, deadline) => {
    const timer = `[Timer]\nOnCalendar=${event}\nPersistent=true\n`;
    expect(job({ timer }, "policy")).toMatchObject({ policy: { deadline } });
  });

  test("OnUnitActiveSec is an interval; that a boot starts no run beside it is told", () => {
    const timer = "[Timer]\nOnBootSec=15min\nOnUnitActiveSec=1d\n";
    expect(job({ timer }, "schedule")).toEqual({ schedule: "@every 24h" });
    expect(verdicts({ timer }).slice(0, 2)).toEqual([
      "OnBootSec=15min: unsupported: a boot starts no run: the interval is counted from the last one",
      "OnUnitActiveSec=1d: noted: becomes every 24h, counted from the start of a run",
    ]);
  });

  test.each([
    [["daily", "*-*-* 12:00"], ["0 0,12 * * *"]],
    [["Mon 8:00", "Fri 8:00"], ["0 8 * * MON,FRI"]],
    [["*-*-01", "Mon"], ["0 0 1 * MON"]],
    [
      ["Sat 10:00", "Sun 11:30"],
      ["0 10 * * SAT", "30 11 * * SUN"],
    ],
    [
      ["daily UTC", "12:00"],
      ["0 0 * * *", "0 12 * * *"],
    ],
    [["daily", "", "hourly"], ["0 * * * *"]],
  ])("several events %j are as few jobs as say the same: %j", (events, schedules) => {
    const timer = `[Timer]\n${events.map((event) => `OnCalendar=${event}\n`).join("")}`;
    const { jobs } = reading({ timer });
    expect(jobs.map(({ schedule }) => schedule)).toEqual(schedules);
    expect(new Set(jobs.map(({ identity }) => identity)).size).toBe(jobs.length);
  });

  test("weekdays and days that no schedule says together become a constraint", () => {
    const timer = "[Timer]\nOnCalendar=Fri *-*-13 13:13\n";
    expect(job({ timer }, "schedule", "constraints")).toEqual({
      schedule: "13 13 13 * *",
      constraints: { only: "dow=FRI" },
    });
    expect(refusals({ timer: `${timer}RandomizedDelaySec=12h\n` })).toEqual([
      "a.timer:3: with it a run may leave the weekdays of dow=FRI",
    ]);
  });

  test("several commands run one after the other; a dash lets one fail, a backslash joins lines", () => {
    const service = `[Service]
Type=oneshot
ExecStartPre=-/bin/sleep 1
ExecStart=/bin/echo "it's" \\
  # a comment in between
  two
ExecStart=/bin/a ; /bin/b \\; c
`;
    expect(job({ service }, "command", "shell")).toEqual({
      command: "{ /bin/sleep 1 || :; } && /bin/echo 'it'\\''s' two && /bin/a && /bin/b ';' c",
      shell: true,
    });
  });

  test("a drop-in comes after the unit: lists start anew with an empty assignment", () => {
    const dropIn = "[Timer]\nOnCalendar=\nOnCalendar=hourly\nRandomizedDelaySec=5min\n";
    expect(job({ dropIn }, "schedule", "window")).toMatchObject({ schedule: "0 * * * *", window: { duration: "5m" } });
    expect(reading({ dropIn }).lines.some(({ file, line }) => file === "override.conf" && line === 3)).toBe(true);
  });

  test("the service may have another name", () => {
    expect(serviceNameOf(readUnit("a.timer", [{ file: "a", text: "[Timer]\nUnit=b.service\n" }]))).toBe("b.service");
    expect(serviceNameOf(readUnit("a@x.timer", [{ file: "a", text: DAILY }]))).toBe("a@x.service");
  });
});

describe("a date with its year", () => {
  const dated = (more: string, date = "2027-01-01 04:00"): Given => ({ timer: `[Timer]\nOnCalendar=${date}\n${more}` });

  test("is a job that runs once, as systemd does it: not at all where the clock skips it", () => {
    expect(job(dated("RandomizedDelaySec=2h\n"), "schedule", "dst", "window", "policy")).toEqual({
      schedule: "@at 2027-01-01T04:00",
      dst: { gap: "skip", overlap: "first" },
      window: { mode: "after", duration: "2h" },
      policy: { concurrency: "forbid", deadline: "2h", suspend: false },
    });
  });

  test("made up for as late as can be said where the timer is persistent", () => {
    expect(job(dated("Persistent=true\n"), "policy")).toMatchObject({ policy: { deadline: "8784h" } });
  });

  test("several of them are several jobs, and one that is written twice is one", () => {
    const three = dated("OnCalendar=2027-01-02 04:00\nOnCalendar=2027-01-01 4:00:00\nOnCalendar=*-*-* 5:00\n");
    expect(reading(three).jobs.map(({ schedule }) => schedule)).toEqual([
      "@at 2027-01-01T04:00",
      "@at 2027-01-02T04:00",
      "0 5 * * *",
    ]);
  });
});

describe("boots, failures, and variables that stand elsewhere", () => {
  test.each([["OnBootSec=5min"], ["OnStartupSec=5min"]])("%s alone is a job at boot", (line) => {
    const timer = `[Timer]\n${line}\n`;
    expect(job({ timer }, "schedule")).toEqual({ schedule: "@reboot" });
    expect(verdicts({ timer })[0]).toBe(
      `${line}: noted: becomes @reboot: once a boot, as soon as krond has started, not 5min later`,
    );
  });

  test("beside a calendar it is a job of its own", () => {
    const { jobs } = reading({ timer: `${DAILY}OnBootSec=0\n` });
    expect(jobs.map(({ identity, schedule }) => [identity, schedule])).toEqual([
      ["backup", "0 0 * * *"],
      ["backup-2", "@reboot"],
    ]);
  });

  test.each<readonly [string, string, unknown, string]>([
    ["as systemd gives up by itself", "", { limit: 4, backoff: "1s", max_backoff: "1s" }, "at most 4 times, 1s apart"],
    ["with a rest", "RestartSec=2s\n", { limit: 4, backoff: "2s", max_backoff: "2s" }, "at most 4 times, 2s apart"],
    [
      "so slowly that systemd never gives up",
      "RestartSec=1min\n",
      { limit: 20, backoff: "1m", max_backoff: "1m" },
      "at most 20 times, 1m apart",
    ],
    [
      "with a limit",
      "RestartSec=30s\n[Unit]\nStartLimitBurst=3\nStartLimitIntervalSec=1h\n",
      { limit: 2, backoff: "30s", max_backoff: "30s" },
      "at most 2 times, 30s apart",
    ],
  ])("Restart=on-failure %s", (_title, more, retry, note) => {
    const service = `[Service]\nExecStart=/bin/a\nRestart=on-failure\n${more}`;
    expect(job({ service }, "retry")).toMatchObject({ retry });
    expect(verdicts({ service })).toContainEqual(
      `Restart=on-failure: noted: becomes retry, ${note}, never into the next period`,
    );
  });

  test("what is no retry is said to be none", () => {
    const always = "[Service]\nExecStart=/bin/a\nRestart=always\n";
    expect(job({ service: always }, "retry")).toEqual({ retry: undefined });
    expect(verdicts({ service: always }).at(-1)).toBe(
      "Restart=always: unsupported: a run is repeated after any failure, and never after a success: see retry",
    );
    const failing = "[Service]\nExecStart=/bin/a\nRestart=on-failure\n";
    const often = { timer: "[Timer]\nOnUnitActiveSec=1h\n", service: failing };
    expect(job(often, "schedule", "retry")).toEqual({ schedule: "@every 1h", retry: undefined });
    expect(verdicts(often).at(-1)).toContain("a job with an interval is not tried again: it runs again anyway");
  });

  test("EnvironmentFile and PassEnvironment", () => {
    const service = `[Service]
ExecStart=/bin/a
Environment=A=1
EnvironmentFile=/etc/default/%p
EnvironmentFile=-/etc/more.env
PassEnvironment=LANG HTTPS_PROXY
LoadCredential=db:/etc/db
`;
    expect(job({ service }, "env_file", "pass_env")).toEqual({
      env_file: ["/etc/default/backup", "/etc/more.env"],
      pass_env: ["HTTPS_PROXY", "LANG"],
    });
    const [first, optional, passed, credential] = verdicts({ service }).slice(-4);
    expect(first).toContain("where Environment= names a variable too, the file does not change it");
    expect(optional).toContain("a file that is missing keeps the job from running");
    expect(passed).toContain("noted: becomes pass_env");
    expect(credential).toContain("unsupported: no file is put into $CREDENTIALS_DIRECTORY");
  });
});

describe("what cannot be said: no job, and why", () => {
  test.each<readonly [string, Given, readonly string[]]>([
    ["an event", { timer: "[Timer]\nOnCalendar=every day\n" }, ['a.timer:2: "every" is not a weekday']],
    [
      "days of one year",
      { timer: "[Timer]\nOnCalendar=2027-01-*\n" },
      ["a.timer:2: with a year it has to be one date and one time"],
    ],
    ["a login alone", { timer: "[Timer]\nOnStartupSec=5min\n", isUser: true }, ["a.timer:2: a login is not a period"]],
    ["its own start", { timer: "[Timer]\nOnActiveSec=5min\n" }, ["a.timer:2: the start of a timer is not a period"]],
    [
      "files by a pattern",
      { service: "[Service]\nEnvironmentFile=/etc/a/*.env\nExecStart=/bin/true\n" },
      ["a.service:2: a pattern names no file"],
    ],
    [
      "no time",
      { timer: "[Timer]\nPersistent=true\n" },
      ["a.timer:1: there is no time at which it would be started again"],
    ],
    ["a span", { timer: `${DAILY}RandomizedDelaySec=soon\n` }, ['a.timer:3: "soon" is not a time span']],
    ["no command", { service: "[Service]\nType=oneshot\n" }, ["a.service:1: there is no ExecStart: nothing to run"]],
    [
      "a daemon",
      { service: "[Service]\nType=forking\nExecStart=/bin/d\n" },
      ["a.service:2: a service of type forking goes on running, which is no job"],
    ],
    [
      "accounts that mix",
      { service: "[Service]\nUser=man\nExecStart=+/bin/a\nExecStart=/bin/b\n" },
      ["a.service:4: some of the commands run as root, others as man"],
    ],
    [
      "a specifier",
      { service: "[Service]\nExecStart=/bin/echo %H\n" },
      ["a.service:2: %H stands for something that only systemd knows: write its value"],
    ],
    [
      "a variable",
      { service: "[Service]\nExecStart=/bin/echo $SECRET\n" },
      ["a.service:2: the value of SECRET is not in Environment=: write it, or run a shell: /bin/sh -c '...'"],
    ],
    ["a quote", { service: '[Service]\nExecStart=/bin/echo "a\n' }, ['a.service:2: a " is missing at its end']],
    ["no account", { service: `${TRUE}DynamicUser=yes\n` }, ["a.service:4: accounts are not made for a run"]],
    ["a root", { service: `${TRUE}RootDirectory=/srv\n` }, ["a.service:4: a run has the root of the host"]],
    ["a line", { service: `${TRUE}what is this\n` }, ["a.service:4: is neither a section nor a setting"]],
    ["a template", { name: "dump@" }, ["a.timer:1: is a template, which runs nothing by itself"]],
    [
      "a bad directory",
      { service: `${TRUE}WorkingDirectory=srv\n` },
      ["a.service:4: the working directory must be an absolute path"],
    ],
  ])("%s", (_, given, wanted) => {
    expect(refusals(given)).toEqual(wanted);
  });

  test("a service that is not there", () => {
    const timer = readUnit("a.timer", [{ file: "a.timer", text: DAILY }]);
    const { jobs, problems } = readTimer(timer, null, { timezone: "UTC", isUser: false });
    expect([jobs, problems.map(({ problem }) => problem.message)]).toEqual([[], ["a.service is not there"]]);
  });
});

describe("lines that have no counterpart are named, and the job is made", () => {
  test.each([
    ["ProtectHome=true", "unsupported: there is no sandbox: let the command be systemd-run with this property"],
    ["ProtectHome=no", "same"],
    ["Nice=19", "unsupported: the priority stays as it is: put nice -n before the command"],
    ["MemoryMax=1G", "unsupported: resources are not limited: let the command be systemd-run with this property"],
    ["NoSuchSetting=1", "unsupported: NoSuchSetting has no counterpart here"],
    ["StandardOutput=null", "same"],
    ["KillMode=process", "noted: a run is ended with all its processes"],
  ])("%s: %s", (line, verdict) => {
    const service = `${TRUE}${line}\n`;
    expect(reading({ service }).jobs.length).toBe(1);
    expect(verdicts({ service }).at(-1)).toBe(`${line}: ${verdict}`);
  });
});

describe("small readers", () => {
  test.each([
    ["1h 30", 5_400_000 - 1_800_000 + 30_000],
    ["5min20s", 320_000],
    ["2w", 1_209_600_000],
    ["1.5h", 5_400_000],
    ["1month", 2_629_800_000],
    ["90", 90_000],
    ["infinity", Number.POSITIVE_INFINITY],
    ["", null],
    ["soon", null],
    ["5 parsecs", null],
  ])("time span %j: %s", (text, ms) => {
    expect(parseTimeSpan(text)).toBe(ms);
  });

  test("words: quotes, escapes, and a quote inside a word", () => {
    const words = requireOk(splitWords(`a "b c" 'd"e' f\\sg \\x41 it's ""`));
    expect(words.map(({ text }) => text)).toEqual(["a", "b c", 'd"e', "f g", "A", "it's", ""]);
    expect(requireErr(splitWords("a\\q"))).toContain("no escape");
  });
});
