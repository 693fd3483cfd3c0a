import { describe, expect, test } from "vitest";
import { splitCrontabCommand } from "../../../../src/core/config/crontab/command.js";
import { type CrontabReading, type CrontabRules, readCrontab } from "../../../../src/core/config/crontab/crontab.js";
import { crontabFormOf, crontabOwnerOf, hasUnmailedJobs } from "../../../../src/core/config/crontab/report.js";
import { sha256Hex } from "../../../../src/core/decision/seed.js";
import type { JobDefinition, ProcessTarget } from "../../../../src/core/job/definition.js";

const USER: CrontabRules = { form: "user", timezone: "Europe/Berlin", owner: "alice" };
const SYSTEM: CrontabRules = { form: "system", timezone: "Europe/Berlin", owner: null };

function read(lines: readonly string[], rules: CrontabRules = USER): CrontabReading {
  return readCrontab("/var/spool/cron/crontabs/alice", `${lines.join("\n")}\n`, rules);
}

function targetOf({ target }: JobDefinition): ProcessTarget {
  if (target.kind !== "process") throw new Error("a crontab has no requests");
  return target;
}

function onlyJob(lines: readonly string[], rules?: CrontabRules): JobDefinition {
  const { jobs, problems } = read(lines, rules);
  expect(problems).toEqual([]);
  const [job] = jobs;
  if (job === undefined || jobs.length !== 1) throw new Error(`expected one job, got ${jobs.length}`);
  return job.definition;
}

describe("the job of a line", () => {
  test("has cron's shell, environment, way with clock changes, and a minute of grace", () => {
    expect(onlyJob(["30 4 * * 1-5 /opt/backup.sh --full"])).toMatchObject({
      schedule: "30 4 * * 1-5",
      timezone: "Europe/Berlin",
      dst: { gap: "next", overlap: "first" },
      window: { mode: "after", durationMs: 0 },
      policy: { concurrency: "allow", deadlineMs: "window", suspend: false, maxActive: null },
      target: {
        argv: ["/opt/backup.sh --full"],
        shell: true,
        user: "alice",
        cwd: null,
        env: { PATH: "/usr/bin:/bin", SHELL: "/bin/sh" },
        stdin: null,
        output: { to: "file" },
      },
    });
  });

  test("a line with a star for minutes or hours follows the clock, as S3 does by itself", () => {
    const dst = ["*/5 2 * * * a", "0 * * * * a", "0 2 * * * a", "@hourly a", "@daily a"].map(
      (line) => onlyJob([line]).dst,
    );
    const [follows, once] = [
      { gap: "skip", overlap: "both" },
      { gap: "next", overlap: "first" },
    ];
    expect(dst).toEqual([follows, follows, once, follows, once]);
  });

  test("the system form names a user before the command", () => {
    const { target, identity } = onlyJob(["*/10 *\t* * *   www-data\t php cron.php  "], SYSTEM);
    expect(target).toMatchObject({ user: "www-data", argv: ["php cron.php  "] });
    expect(identity).toMatch(/^crontab:alice:[0-9a-f]{12}$/);
  });

  test("a crontab of nobody in particular runs as whoever runs the daemon", () => {
    expect(targetOf(onlyJob(["@daily a"], { ...USER, owner: null })).user).toBeNull();
  });
});

describe("S37: identities of crontab lines", () => {
  const hash = (text: string): string => sha256Hex(text).slice(0, 12);

  test("crontab:<file name>:<12 hex of sha256(schedule + command)>, #n for repeats", () => {
    const { jobs } = read(["0 3 * * *  a %x", "0\t3 * * * a %x", "0 3 * * * a", "@daily b", " 0 3 * * * a %x"]);
    expect(jobs.map(({ definition }) => definition.identity)).toEqual([
      `crontab:alice:${hash("0 3 * * *a %x")}`,
      `crontab:alice:${hash("0 3 * * *a %x")}#2`,
      `crontab:alice:${hash("0 3 * * *a")}`,
      `crontab:alice:${hash("@dailyb")}`,
      `crontab:alice:${hash("0 3 * * *a %x")}#3`,
    ]);
  });

  test("do not depend on the line, the variables or the user", () => {
    const plain = onlyJob(["0 3 * * * a"]).identity;
    expect(onlyJob(["# moved", "A=1", "", "0 3 * * * a"]).identity).toBe(plain);
    expect(onlyJob(["0 3 * * * bob a"], SYSTEM).identity).toBe(plain);
  });
});

describe("S35: a line that cannot be taken over is one job, and the others need not suffer for it", () => {
  test("problems of a job name it; those of a variable or of a line without form concern everybody", () => {
    const { problems } = read(["@later a", "0 25 * * * a", "@daily %x", "5 fields", "SHELL=sh", "@daily b"]);
    const expected = ["crontab:", "crontab:", "crontab:", null, null, "crontab:"];
    expect(problems.map(({ identity }) => identity?.slice(0, 8) ?? null)).toEqual(expected);
  });

  test("mending a line leaves the identities of the others as they were", () => {
    const repeats = ["@later a", "@daily a", "@daily a"].join("\n");
    const identities = (text: string): unknown[] => read([text]).jobs.map(({ definition }) => definition.identity);
    expect(identities(`0 25 * * * a\n${repeats}`)).toEqual(identities(repeats));
  });
});

describe("places", () => {
  test("jobs are located at their schedule, problems at what is wrong", () => {
    const { jobs, problems } = read(["", "  0 3 * * * a", "0 25 * * * a", "\t@later a"]);
    expect(jobs.map(({ file, line, column }) => [file, line, column])).toEqual([
      ["/var/spool/cron/crontabs/alice", 2, 3],
    ]);
    expect(problems.map(({ line, column, length }) => [line, column, length])).toEqual([
      [3, 3, 2],
      [4, 2, 6],
    ]);
  });
});

describe("variables", () => {
  const environments: readonly [title: string, lines: readonly string[], expected: Record<string, string>][] = [
    ["NAME=value", ["A=1"], { A: "1" }],
    ["blanks around = and at the end are dropped", ["  A \t=  x y \t "], { A: "x y" }],
    ["quotes keep blanks", ['A="  x  "', "B=' y '"], { A: "  x  ", B: " y " }],
    ["a quoted name", ['"A"=1', "'B' = 2"], { A: "1", B: "2" }],
    ["quotes inside a bare value are characters", [`A=x"y'z`], { A: `x"y'z` }],
    ["other quotes inside quotes, too", [`A="it's"`, `B='"'`], { A: "it's", B: '"' }],
    ["an empty value, quoted or not", ['A=""', "B="], { A: "", B: "" }],
    ["nothing is expanded, and # begins no comment", ["A=$HOME/bin:~ # x"], { A: "$HOME/bin:~ # x" }],
    ["% and backslashes are plain", ["A=100%\\%"], { A: "100%\\%" }],
    ["the last one wins", ["A=1", "A=2"], { A: "2" }],
    ["PATH and SHELL replace cron's own", ["PATH=/x", "SHELL=/bin/sh"], { PATH: "/x", SHELL: "/bin/sh" }],
    ["MAILTO is passed on as well: commands use it", ["MAILTO=ops@example.org"], { MAILTO: "ops@example.org" }],
  ];

  test.each(environments)("%s", (_title, lines, expected) => {
    const { env } = targetOf(onlyJob([...lines, "@daily a"]));
    expect(env).toEqual({ PATH: "/usr/bin:/bin", SHELL: "/bin/sh", ...expected });
  });

  test("hold for the lines below them only", () => {
    const { jobs } = read(["@daily a", "A=1", "@daily b", "A=2", "@daily c"]);
    expect(jobs.map(({ definition }) => targetOf(definition).env["A"])).toEqual([undefined, "1", "2"]);
  });

  test("SHELL: another shell gets the command as one argument, never expanded here", () => {
    const target = targetOf(onlyJob(["SHELL=/bin/bash", "@daily echo {a,b} $HOME"]));
    expect(target).toMatchObject({
      shell: false,
      argv: ["/bin/bash", "-c", "echo {a,b} $HOME"],
      env: { SHELL: "/bin/bash" },
    });
  });

  test("HOME is also where commands run", () => {
    expect(targetOf(onlyJob(["HOME=/srv/app", "@daily a"]))).toMatchObject({
      cwd: "/srv/app",
      env: { HOME: "/srv/app" },
    });
  });

  test("LOGNAME and USER are what the account says, whatever the crontab says", () => {
    const { jobs, lines } = read(["LOGNAME=mallory", "USER=mallory", "@daily a"]);
    expect(lines.map(({ verdict }) => verdict)).toEqual(["noted", "noted", "same"]);
    expect(jobs[0]?.definition.target).toMatchObject({
      user: "alice",
      env: { PATH: "/usr/bin:/bin", SHELL: "/bin/sh" },
    });
  });

  test("CRON_TZ moves schedules, not the clock of the commands; empty goes back to the host's zone", () => {
    const { jobs } = read(["@daily a", "CRON_TZ=asia/tokyo", "@daily b", "TZ=UTC", "@daily c", "CRON_TZ=", "@daily d"]);
    const zones = jobs.map(({ definition }) => [definition.timezone, targetOf(definition).env["TZ"] ?? null]);
    expect(zones).toEqual([
      ["Europe/Berlin", null],
      ["Asia/Tokyo", "Europe/Berlin"],
      ["Asia/Tokyo", "UTC"],
      ["Europe/Berlin", "UTC"],
    ]);
  });

  test("RANDOM_DELAY becomes a window, but none that reaches into the next period (S11)", () => {
    const { jobs, lines } = read(["RANDOM_DELAY=45", "0 3 * * * a", "*/15 * * * * b", "RANDOM_DELAY=0", "@daily c"]);
    expect(jobs.map(({ definition }) => definition.window)).toEqual([
      { mode: "after", durationMs: 45 * 60_000 },
      { mode: "after", durationMs: 15 * 60_000 },
      { mode: "after", durationMs: 0 },
    ]);
    expect(lines.map(({ verdict }) => verdict)).toEqual(["noted", "noted", "noted", "same", "same"]);
    expect(lines[2]?.notes).toEqual([
      "each run gets its own second within 15m, not 45m, which would reach into the next period; cron delays all by one random number of minutes",
    ]);
  });

  const unusable: readonly [title: string, line: string, code: string][] = [
    ["an unknown zone", "CRON_TZ=Mars/Olympus", "timezone-unknown"],
    ["a delay that is no number", "RANDOM_DELAY=soon", "duration-range"],
    ["a delay of more than a day", "RANDOM_DELAY=1441", "duration-range"],
    ["a relative shell", "SHELL=bash", "field-range"],
    ["an empty home", "HOME=", "field-range"],
    ["a name that no environment has", "MY-VAR=1", "environment-name"],
    ["one of Kron's own names", "KRON_IDENTITY=x", "environment-name"],
    ["__proto__", "__proto__=x", "environment-name"],
    ["NUL", "A=x\0y", "field-range"],
  ];

  test.each(unusable)("S35: %s is a problem, and so is every job below it", (_title, line, code) => {
    const { jobs, problems, lines } = read(["@daily a", line, "@daily b", "@daily c"]);
    expect(jobs.map(({ line: at }) => at)).toEqual([1]);
    expect(problems.map(({ line: at, problem }) => [at, problem.code])).toEqual([
      [2, code],
      [3, "field-conflict"],
      [4, "field-conflict"],
    ]);
    expect(lines.map(({ verdict }) => verdict)).toEqual(["same", "unsupported", "unsupported", "unsupported"]);
  });

  test("a later value that can be used mends it", () => {
    const { jobs } = read(["SHELL=bash", "@daily a", "SHELL=/bin/bash", "@daily b"]);
    expect(jobs.map(({ line }) => line)).toEqual([4]);
  });
});

describe("% in a command", () => {
  const commands: readonly [written: string, command: string, stdin: string | null][] = [
    ["echo hello", "echo hello", null],
    ["date +\\%F", "date +%F", null],
    ["mail -s x joe%Joe,%%Where are your kids?%", "mail -s x joe", "Joe,\n\nWhere are your kids?\n"],
    ["cat%one", "cat", "one\n"],
    ["cat%one%", "cat", "one\n"],
    ["cat%50\\% off", "cat", "50% off\n"],
    ["cat%", "cat", null],
    ["cat%%", "cat", "\n"],
    ["echo a\\\\b", "echo a\\\\b", null],
    ["echo a\\\\%b", "echo a\\\\", "b\n"],
    ["cat%a\\\\%b", "cat", "a\\%b\n"],
    ["echo \\", "echo \\", null],
    ["cat%a\\", "cat", "a\\\n"],
    ["echo '100%'", "echo '100", "'\n"],
  ];

  test.each(commands)("%j", (written, command, stdin) => {
    expect(splitCrontabCommand(written)).toEqual({ command, stdin });
  });

  test("the input becomes the job's standard input", () => {
    expect(targetOf(onlyJob(["@daily cat%a%b"]))).toMatchObject({ argv: ["cat"], stdin: "a\nb\n" });
  });
});

const JOB = {
  same: { verdict: "same", jobs: 1, problems: 0 },
  noted: { verdict: "noted", jobs: 1, problems: 0 },
  refused: { verdict: "unsupported", jobs: 0, problems: 1 },
} as const;
const VARIABLE = {
  same: { verdict: "same", jobs: 0, problems: 0 },
  noted: { verdict: "noted", jobs: 0, problems: 0 },
  /** Has no effect, which is no reason to refuse a start. */
  ignored: { verdict: "unsupported", jobs: 0, problems: 0 },
} as const;

describe("verdicts", () => {
  const verdicts: readonly [line: string, expected: object, note: RegExp][] = [
    ["0 3 * * * a", JOB.same, /^$/],
    ["@daily a", JOB.same, /^$/],
    ["0 3 1,15 * 5 a", JOB.same, /^$/],
    ["0 3 */2 * * a", JOB.same, /^$/],
    ["*/90 * * * * a", JOB.noted, /written 0 \* \* \* \*/],
    ["008 3 * * * a", JOB.noted, /written 8 3 \* \* \*/],
    ["0 3 */1 * 1 a", JOB.noted, /written 0 3 \* \* 1/],
    ["0 3 */2 * 1 a", JOB.refused, /demands both \*\/2 and 1/],
    ["0 3 1-7 * */2 a", JOB.refused, /demands both 1-7 and \*\/2/],
    ["0 0 30 2 * a", JOB.refused, /never occurs/],
    ["@reboot a", JOB.same, /^$/],
    ["@Reboot a", JOB.refused, /cron does not know @Reboot/],
    ["@Daily a", JOB.refused, /cron does not know @Daily/],
    ["@every_minute a", JOB.refused, /cron does not know/],
    ["5/15 * * * * a", JOB.refused, /crons disagree/],
    ["0~59 * * * * a", JOB.refused, /random value/],
    ["60 * * * * a", JOB.refused, /60 is out of range/],
    ["0 0 * * 8 a", JOB.refused, /8 is out of range/],
    ["0 0 0 * * a", JOB.refused, /0 is out of range/],
    ["0 0 * * fri-sun a", JOB.refused, /runs backwards/],
    ["0 0 * * friday a", JOB.refused, /cron does not know "friday"/],
    ["0 0 * 1,,2 * a", JOB.refused, /empty/],
    ["*/0 * * * * a", JOB.refused, /at least 1/],
    ["0 0 ? * * a", JOB.refused, /cron does not know "\?"/],
    ["0 0 L * * a", JOB.refused, /cron does not know "L"/],
    ["0 0 * * * * a", JOB.refused, /cannot begin with \*/],
    ["0 0 * * *", JOB.refused, /command is missing/],
    ["0 0 * *", JOB.refused, /5 fields and a command, this one has 4 words/],
    ["@daily", JOB.refused, /command is missing/],
    ["@daily %input only", JOB.refused, /command is empty/],
    ["hello", JOB.refused, /5 fields/],
    ['A="x" y', JOB.refused, /quotes of this value/],
    ["-*/5 * * * * a", JOB.noted, /the - before it/],
    ["MAILTO=root", VARIABLE.noted, /is mailed by sendmail, as with cron/],
    ['MAILTO=""', VARIABLE.noted, /no mail is sent, as asked/],
    ["MAILFROM=cron@example.org", VARIABLE.noted, /mail_from/],
    ["CONTENT_TYPE=text/html", VARIABLE.noted, /plain text in UTF-8/],
    ["MAILTO=-oops", VARIABLE.ignored, /no mail is sent: "-oops" is not a mail address/],
    ["TZ=Asia/Tokyo", VARIABLE.noted, /for the commands only/],
    ["TZ=Europe/Berlin", VARIABLE.same, /^$/],
    ["0 3 * * * a\r", JOB.noted, /carriage return/],
  ];

  test.each(verdicts)("%j", (line, expected, note) => {
    const { lines, jobs, problems } = read([line]);
    expect(lines.map(({ verdict }) => ({ verdict, jobs: jobs.length, problems: problems.length }))).toEqual([expected]);
    expect(lines[0]?.notes.join("; ")).toMatch(note);
  });

  test("in the system form a line without a user is refused, also when its command looks like one", () => {
    expect(read(["0 3 * * * backup"], SYSTEM).lines[0]?.notes).toEqual(["the user or the command is missing"]);
    expect(read(["0 3 * * * a:b cmd"], SYSTEM).problems[0]).toMatchObject({ column: 11, length: 3 });
  });

  test("comments and blank lines have none; comments right above a line go with it", () => {
    const { lines } = read(["# far", "", "  # near", "#near, too", "@daily a # no comment", "", "#"]);
    expect(lines).toHaveLength(1);
    expect(lines[0]).toMatchObject({ line: 5, comments: ["near", "near, too"], text: "@daily a # no comment" });
  });

  test("a last line without an end is taken, with a note", () => {
    const { lines, jobs } = readCrontab("x", "@daily a\n@daily b", USER);
    expect(lines.map(({ verdict }) => verdict)).toEqual(["same", "noted"]);
    expect(jobs).toHaveLength(2);
  });

  test("a line beyond the limit is refused without a look at it", () => {
    const { problems, jobs } = read([`@daily ${"x".repeat(3 * 1024 * 1024)}`, "@daily b"]);
    expect(problems.map(({ problem, line }) => [problem.code, line])).toEqual([["limit-exceeded", 1]]);
    expect(jobs).toHaveLength(1);
  });
});

describe("what a path tells", () => {
  test.each([
    ["/etc/crontab", "system", null],
    ["/etc/cron.d/php", "system", null],
    ["/var/spool/cron/crontabs/alice", "user", "alice"],
    ["/var/spool/cron/alice", "user", "alice"],
    ["/var/cron/tabs/alice", "user", "alice"],
    ["/etc/cron.d/x/y", null, null],
    ["/home/alice/crontab", null, null],
  ])("%s: form %s, owner %s", (path, form, owner) => {
    expect([crontabFormOf(path), crontabOwnerOf(path)]).toEqual([form, owner]);
  });
});

describe("MAILTO", () => {
  const toldOf = (lines: readonly string[]) => read(lines).jobs.map(({ definition }) => definition.notify);
  const mailed = (...to: string[]) => [{ on: ["output"], repeat: false, lateMs: null, target: { kind: "mail", to } }];

  test.each<[title: string, lines: readonly string[], notify: readonly unknown[]]>([
    ["what a run prints is mailed, as with cron", ["MAILTO=ops@example.org", "@daily a"], [mailed("ops@example.org")]],
    ["several, with blanks between", ["MAILTO=root, ops@example.org", "@daily a"], [mailed("root", "ops@example.org")]],
    ["an empty one: nobody", ['MAILTO=""', "@daily a"], [[]]],
    ["none: nobody", ["@daily a"], [[]]],
    [
      "it holds for the lines below, until the next",
      ["MAILTO=a", "@daily a", "MAILTO=", "@daily b"],
      [mailed("a"), []],
    ],
    ["one that cannot be used mails nobody, and costs no job", ["MAILTO=a", "MAILTO=-x", "@daily a"], [[]]],
  ])("%s", (_title, lines, notify) => {
    expect(toldOf(lines)).toEqual(notify);
  });

  test.each<[lines: readonly string[], isUnmailed: boolean]>([
    [["@daily a"], true],
    [["@daily a", "MAILTO=x"], true],
    [["MAILTO=x", "@daily a"], false],
    [['MAILTO=""', "@daily a"], false],
    [["# nothing"], false],
  ])("%j: whether cron would mail an owner whom nobody named", (lines, isUnmailed) => {
    expect(hasUnmailedJobs(read(lines))).toBe(isUnmailed);
  });
});
