import * as fs from "node:fs";
import * as path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { KRON } from "../../../src/cli/commands/index.js";
import { replaceText } from "../../../src/cli/forecast/replace-file.js";
import type { TuneReport } from "../../../src/cli/forecast/tune-report.js";
import { runCaptured } from "../../support/cli.js";
import { patched } from "../../support/patched.js";
import { temporaryDirectories } from "../../support/temporary.js";

const FLEET = fs.readFileSync("test/cli/files/fleet.yaml", "utf8");
const NIGHT = ["--from", "2026-03-28T20:00:00Z", "--to", "2026-03-29T12:00:00Z"];
const directory = temporaryDirectories();

function written(files: Readonly<Record<string, string>>): string {
  const home = directory();
  for (const [name, text] of Object.entries(files)) fs.writeFileSync(path.join(home, name), text);
  return home;
}

async function tune(cwd: string, ...argv: readonly string[]) {
  return runCaptured(KRON, ["tune", ...argv, ...NIGHT], { cwd });
}

async function reportOf(cwd: string, ...argv: readonly string[]): Promise<TuneReport> {
  const { exitCode, out, err } = await tune(cwd, ...argv, "-o", "json");
  expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
  return JSON.parse(out);
}

async function peakOf(cwd: string, ...names: readonly string[]): Promise<number> {
  const { exitCode, out } = await runCaptured(KRON, ["forecast", ...names, ...NIGHT, "-o", "json"], { cwd });
  expect(exitCode).toBe(0);
  return JSON.parse(out).with_windows.peaks[0]?.starts ?? 0;
}

describe("kron tune", () => {
  test("text: the peak before and after, who changes, who is left alone and why, and the diff", async () => {
    const { exitCode, out, err } = await tune(written({ "fleet.yaml": FLEET }), "fleet.yaml");
    expect({ exitCode, err }).toEqual({ exitCode: 0, err: "" });
    expect(out).toBe(`2026-03-28T20:00:00Z to 2026-03-29T12:00:00Z by 1m
peak 4 at 2026-03-28T23:00:00Z becomes 2 at 2026-03-28T23:00:00Z; the target of 1 is not reached
left alone: 1 suspended, 1 tagged as fixed, 1 with a window of their own (--widen, --reseed)

JOB          WINDOW  BECOMES    SALT  AT
db/vacuum    -       after 10m        fleet.yaml:12
shop/report  -       after 10m        fleet.yaml:16
2 jobs to change

--- a/fleet.yaml
+++ b/fleet.yaml
@@ -11,9 +11,10 @@
 
   - identity: db/vacuum
     schedule: "0 0 * * *"
+    window: { mode: after, duration: 10m }
     tags: [db]
     command: [/usr/bin/vacuum]
-  - { identity: shop/report, schedule: "0 0 * * *", tags: [shop], command: [/usr/bin/report] }   # short
+  - { identity: shop/report, schedule: "0 0 * * *", window: { mode: after, duration: 10m }, tags: [shop], command: [/usr/bin/report] }   # short
   - identity: shop/mail
     schedule: "*/15 * * * *"
     policy: { concurrency: forbid }
`);
  });

  test("-o diff is the change and nothing else; without --write no file is touched", async () => {
    const home = written({ "fleet.yaml": FLEET });
    const { out } = await tune(home, "fleet.yaml", "-o", "diff");
    expect(fs.readFileSync(path.join(home, "fleet.yaml"), "utf8")).toBe(FLEET);
    fs.writeFileSync(path.join(home, "fleet.yaml"), patched(FLEET, out));
    expect(await peakOf(home, "fleet.yaml")).toBe(2);
  });

  test("the forecast of what is written has the peak that was promised, and nothing is left to propose", async () => {
    const home = written({ "fleet.yaml": FLEET });
    const report = await reportOf(home, "fleet.yaml", "--write");
    expect(report.written).toEqual(["fleet.yaml"]);
    expect(await peakOf(home, "fleet.yaml")).toBe(report.after.starts);
    expect((await reportOf(home, "fleet.yaml")).proposals).toEqual([]);
  });

  test("--target-peak: no more is changed than the target takes", async () => {
    const report = await reportOf(written({ "fleet.yaml": FLEET }), "fleet.yaml", "--target-peak", "3");
    expect(report).toMatchObject({ target_peak: 3, after: { starts: 3 }, is_target_reached: true });
    expect(report.proposals).toHaveLength(1);
  });

  test("a target that cannot be reached is said, with what stands in the way", async () => {
    const home = written({ "fleet.yaml": FLEET });
    const { out } = await tune(home, "fleet.yaml", "--only", "nobody", "--target-peak", "2");
    expect(out).toContain("the target of 2 is not reached: jobs that are left alone make a peak of 4");
    expect(out).toContain("Nothing to propose.");
  });

  const chosen: readonly (readonly [name: string, argv: readonly string[], expected: readonly string[]])[] = [
    ["--only an identity", ["--only", "shop/*"], ["shop/report"]],
    ["--only a tag", ["--only", "db"], ["db/vacuum"]],
    ["--fixed names another tag", ["--fixed", "shop"], ["db/vacuum"]],
  ];
  test.each(chosen)("%s", async (_, argv, expected) => {
    const { proposals } = await reportOf(written({ "fleet.yaml": FLEET }), "fleet.yaml", ...argv);
    expect(proposals.map(({ identity }) => identity)).toEqual(expected);
  });

  test("a window the job has, even of 0s, is left alone; --widen changes only real ones, --reseed asks for a salt", async () => {
    const crowd = Array.from({ length: 12 }, (_, index) => `@daily @win(after,4m) name=w${index} command="x"\n`).join(
      "",
    );
    const home = written({ "jobs.kron": `${crowd}@daily @win(after,0s) name=none command="x"\n` });
    expect((await reportOf(home, "jobs.kron", "--target-peak", "1")).left_alone).toMatchObject({ has_window: 13 });
    const widened = await reportOf(home, "jobs.kron", "--target-peak", "1", "--widen");
    expect(widened.proposals.length).toBeGreaterThan(0);
    expect(widened.proposals.every(({ salt_after, identity }) => salt_after === "" && identity !== "none")).toBe(true);
    const reseeded = await reportOf(home, "jobs.kron", "--target-peak", "1", "--reseed");
    expect(new Set(reseeded.proposals.map(({ window_after }) => window_after))).toEqual(new Set(["after 4m"]));
    expect(reseeded.proposals.every(({ salt_after }) => salt_after.startsWith("tune-"))).toBe(true);
  });

  test("several files of all formats, each with its own part of the diff", async () => {
    const home = written({
      "a.yaml": 'jobs:\n  - { identity: a, schedule: "@daily", command: [x] }\n',
      "b.kron": '@daily name=b command="x"\n',
      "c.jsonl": '{"identity":"c","schedule":"@daily","command":["x"]}\n',
      "d.yaml": 'jobs:\n  - { identity: d, schedule: "@daily", tags: [fixed], command: [x] }\n',
    });
    const report = await reportOf(home, ".", "--from", "2026-03-28T23:59:00Z", "--write");
    expect(report).toMatchObject({
      before: { starts: 4 },
      after: { starts: 1 },
      written: ["a.yaml", "b.kron", "c.jsonl"],
    });
    expect(report.diff.match(/^--- .*$/gm)).toEqual(["--- a/a.yaml", "--- a/b.kron", "--- a/c.jsonl"]);
  });
});

describe("--write", () => {
  test("owner's modes stay, links stay links, nothing is left beside the file", async () => {
    const home = written({ "real.yaml": FLEET });
    fs.chmodSync(path.join(home, "real.yaml"), 0o640);
    fs.symlinkSync("real.yaml", path.join(home, "fleet.yaml"));
    await reportOf(home, "fleet.yaml", "--write");
    expect(fs.readdirSync(home)).toEqual(["fleet.yaml", "real.yaml"]);
    expect(fs.lstatSync(path.join(home, "fleet.yaml")).isSymbolicLink()).toBe(true);
    expect(fs.statSync(path.join(home, "real.yaml")).mode & 0o777).toBe(0o640);
    expect(fs.readFileSync(path.join(home, "real.yaml"), "utf8")).toContain("duration: 10m");
  });

  test("a file that changed meanwhile is not replaced", async () => {
    const home = written({ "a.yaml": "somebody else's\n" });
    const file = path.join(home, "a.yaml");
    await expect(replaceText(file, "a.yaml", "what was read\n", "new\n")).rejects.toThrow("a.yaml changed meanwhile");
    expect(fs.readFileSync(file, "utf8")).toBe("somebody else's\n");
    expect(fs.readdirSync(home)).toEqual(["a.yaml"]);
  });

  test("a file that is not UTF-8 throughout is refused: the rest of it could not be kept", async () => {
    const home = directory();
    const text = Buffer.from('jobs:\n  - { identity: a, schedule: "@daily", command: [x] } # caf\u00e9\n', "latin1");
    fs.writeFileSync(path.join(home, "a.yaml"), text);
    const { exitCode, err } = await tune(home, "a.yaml", "--write");
    expect({ exitCode, err }).toEqual({ exitCode: 2, err: "kron: a.yaml: is not UTF-8 throughout\n" });
  });
});

describe("property: whatever is proposed parses, lints no worse, and has a peak no higher", () => {
  const jobs = fc.array(
    fc.record({
      schedule: fc.constantFrom("0 0 * * *", "0 0 * * *", "*/30 * * * *", "30 1 * * *", "0 1,3 * * *"),
      window: fc.constantFrom("", "", "", "2m", "20m"),
      only: fc.constantFrom("", "", "", "between=00:00-00:20", "dow=SUN"),
      deadline: fc.constantFrom("", "", "3m"),
      isFixed: fc.boolean(),
      isFlow: fc.boolean(),
    }),
    { minLength: 1, maxLength: 14 },
  );
  const flags = fc.subarray(["--widen", "--reseed"]);

  type Wanted = Parameters<Parameters<typeof jobs.map>[0]>[0][number];
  function yamlOf({ schedule, window, only, deadline, isFixed, isFlow }: Wanted, index: number): string {
    const fields = [
      `identity: j${index}`,
      `schedule: "${schedule}"`,
      ...(window === "" ? [] : [`window: { duration: ${window} }`]),
      ...(only === "" ? [] : [`constraints: { only: "${only}" }`]),
      ...(deadline === "" ? [] : [`policy: { deadline: ${deadline} }`]),
      ...(isFixed && index % 3 === 0 ? ["tags: [fixed]"] : []),
      "command: [x]",
    ];
    return isFlow ? `- { ${fields.join(", ")} }   # ${index}\n` : `- ${fields.join("  # c\n  ")}\n`;
  }

  test("YAML", async () => {
    await fc.assert(
      fc.asyncProperty(jobs, flags, async (wanted, given) => {
        const text = `# fleet\ndefaults: { timezone: Europe/Berlin }\njobs:\n${wanted.map(yamlOf).join("")}`;
        const home = written({ "a.yaml": text });
        const lint = async () =>
          JSON.parse((await runCaptured(KRON, ["lint", "a.yaml", "-o", "json"], { cwd: home })).out);
        const [before, warnings] = [await peakOf(home, "a.yaml"), (await lint()).warnings.length];
        const report = await reportOf(home, "a.yaml", ...given, "--write");
        const after = fs.readFileSync(path.join(home, "a.yaml"), "utf8");
        expect(report.before.starts).toBe(before);
        expect(await peakOf(home, "a.yaml")).toBe(report.after.starts);
        expect(report.after.starts).toBeLessThanOrEqual(before);
        expect(after).toBe(patched(text, report.diff));
        const linted = await lint();
        expect({ valid: linted.valid, worse: linted.warnings.length > warnings }).toEqual({
          valid: true,
          worse: false,
        });
        const fixed = report.proposals.filter(({ identity }) => {
          const index = Number(identity.slice(1));
          return wanted[index]?.isFixed === true && index % 3 === 0;
        });
        expect(fixed).toEqual([]);
      }),
      { numRuns: 25, seed: 41 },
    );
  });
});
