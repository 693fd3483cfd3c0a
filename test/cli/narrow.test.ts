/** What is wide where nobody looks fits where somebody does: on a terminal no line of a table is wider than it. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const temporary = temporaryDirectories();

const CONFIG = `jobs:
  - { identity: team/billing/nightly-invoices, schedule: "0 3 * * *", timezone: Europe/Berlin, tags: [nightly],
      window: { mode: after, duration: 2h }, policy: { deadline: window }, command: [invoices] }
  - { identity: team/billing/nightly-reminders, schedule: "0 3 * * *", tags: [nightly], command: [reminders] }
  - { identity: often, every: 90s, command: [often] }
`;
const TAB = "0 3 * * * /opt/jobs/invoices --all --quiet\n";
const DAY = ["--from", "2026-03-01T00:00:00Z", "--horizon", "1d"];

function place(): string {
  const cwd = temporary();
  fs.writeFileSync(path.join(cwd, "jobs.yaml"), CONFIG);
  fs.writeFileSync(path.join(cwd, "tab"), TAB);
  return cwd;
}

async function shown(argv: readonly string[], outColumns?: number): Promise<string> {
  const cwd = place();
  const world = { cwd, env: { TZ: "UTC", XDG_CONFIG_HOME: cwd, HOME: cwd } };
  const { exitCode, out } = await runCaptured(KRON, argv, outColumns === undefined ? world : { ...world, outColumns });
  expect(exitCode).toBe(0);
  return out;
}

/** Sentences are wrapped by the terminal; rows are what stands in columns. */
function widestRow(text: string): number {
  return Math.max(...text.split("\n").flatMap((line) => (/\S {2}\S/.test(line) ? [line.length] : [])));
}

describe.each([80, 60, 40])("on %i columns", (columns) => {
  test.each([
    ["next", "team/billing/nightly-invoices", "--config", "jobs.yaml"],
    ["next", "--config", "jobs.yaml"],
    ["next", "--crontab", "tab"],
    ["forecast", "jobs.yaml", "--assume-duration", "5m", ...DAY],
    ["forecast", "jobs.yaml", "--by", "tag", ...DAY],
  ])("kron %s %s %s", async (...argv) => {
    expect(widestRow(await shown(argv, columns))).toBeLessThanOrEqual(columns);
  });

  test("kron simulate: the table of jobs", async () => {
    const out = await shown(["simulate", "jobs.yaml", ...DAY], columns);
    const table = out.slice(out.indexOf("JOB"), out.indexOf("\n\nperiods"));
    expect(widestRow(table)).toBeLessThanOrEqual(columns);
    expect(table).toMatch(/^JOB .*MIS/);
  });
});

describe("what is called by a hash", () => {
  test("is shown by what its line runs where there is room for one of both, and by both where there is", async () => {
    expect(await shown(["next", "--crontab", "tab"], 60)).toMatch(/crontab:tab:1 \/opt/);
    const simulated = await shown(["simulate", "tab", ...DAY]);
    expect(simulated).toMatch(/\ncrontab:tab:[0-9a-f]{12} {2}tab: \/opt\/jobs\/invoices --all --quiet /);
    expect(await shown(["simulate", "tab", ...DAY], 80)).toMatch(/\ntab: \/opt\/jobs/);
    const { jobs } = JSON.parse(await shown(["simulate", "tab", ...DAY, "-o", "json"])) as { jobs: unknown[] };
    expect(jobs).toMatchObject([{ called: "tab: /opt/jobs/invoices --all --quiet" }]);
  });
});
