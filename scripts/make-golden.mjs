/**
 * Writes test/golden/decisions-v1.json from the built library. Run by hand, once for each version of the decision
 * contract: a golden file is a promise, so an existing one is only replaced with --force.
 *
 *   node scripts/make-golden.mjs [--force] [LIBRARY]
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";

const VERSION = 1;
const ROOT = path.resolve(import.meta.dirname, "..");
const TARGET = path.join(ROOT, `test/golden/decisions-v${VERSION}.json`);
const VERSIONS = { tzVersion: "any", engineVersion: "any" };

const [library = path.join(ROOT, "dist/index.js")] = process.argv.slice(2).filter((word) => !word.startsWith("--"));
const { compileRule, decide, explainDecision, readDecisionRecord, toDecisionRecord } = await import(
  pathToFileURL(path.resolve(library)).href
);

const DISTRIBUTIONS = [
  ["uniform", {}],
  ["skewEarly", {}],
  ["skewEarly", { shape: 0.5 }],
  ["skewEarly", { shape: 1.5 }],
  ["skewEarly", { shape: 7 }],
  ["skewEarly", { shape: 1e-9 }],
  ["skewLate", {}],
  ["skewLate", { shape: 0.3 }],
  ["skewLate", { shape: 2.5 }],
  ["skewLate", { shape: 1e9 }],
  ["normal", {}],
  ["normal", { mu: "start" }],
  ["normal", { mu: "mid", sigma: "1m" }],
  ["normal", { mu: "end", sigma: "20m" }],
  ["normal", { mu: "nominal", sigma: "10h" }],
  ["normal", { mu: "mid", sigma: "1ms" }],
  ["normal", { mu: "end", sigma: "2000000h" }],
  ["exponential", {}],
  ["exponential", { lambda: 5, dir: "late" }],
  ["exponential", { lambda: 0.001, dir: "early" }],
  ["exponential", { lambda: 50, dir: "early" }],
  ["exponential", { lambda: 1e-9, dir: "late" }],
  ["exponential", { lambda: 1e9, dir: "late" }],
];

const WINDOWS = [
  ["after", "1h"],
  ["around", "1h30m"],
  ["before", "2h"],
  ["after", "0s"],
  ["around", "1h1m1s"],
  ["before", "7s"],
  ["around", "5s"],
  ["after", "744h"],
];

/** Places and the days on which their clocks change, with a usual day for comparison. */
const CLOCKS = [
  ["UTC", ["2026-03-01"]],
  ["America/New_York", ["2026-03-08", "2026-11-01", "2026-07-04"]],
  ["Europe/Berlin", ["2026-03-29", "2025-10-26", "2026-01-01"]],
  ["Australia/Lord_Howe", ["2026-04-05", "2025-10-05"]],
  ["Pacific/Apia", ["2011-12-29", "2011-12-31"]],
  ["Asia/Kathmandu", ["2025-12-29"]],
  ["Pacific/Kiritimati", ["2024-12-31"]],
];

const STRATEGIES = ["stable", "daily", "weekly"];
const DST_RULES = [
  { gap: "skip", overlap: "both" },
  { gap: "next", overlap: "both" },
  { gap: "skip", overlap: "first" },
  { gap: "next", overlap: "last" },
];

const CONSTRAINTS = [
  ["hours=9", ""],
  ["hours=8-9", ""],
  ["hours=22-8", ""],
  ["", "hours=8,10"],
  ["dow=MON-FRI", ""],
  ["dow=FRI-MON", ""],
  ["dow=SUN", ""],
  ["", "dow=SAT,SUN"],
  ["dom=1-7", ""],
  ["dom=28-3", ""],
  ["months=3", ""],
  ["months=11-2", ""],
  ["", "months=1-12"],
  ["between=09:00-09:15", ""],
  ["between=22:00-06:00", ""],
  ["between=09:30-08:59", ""],
  ["", "between=08:30-09:29"],
  ["between=09:07-09:07", ""],
  ["date=2026-03-29", ""],
  ["dates=2026-03-01..2026-03-31", ""],
  ["", "dates=2026-12-24..2026-12-31,2026-03-29"],
  ["dow=MON-SUN;hours=8,9;between=08:50-09:10", "between=08:55-09:05"],
  ["hours=8;hours=9", "dow=MON"],
  ["between=09:00-09:00;between=09:01-09:02", ""],
];

const rows = [];

function addRow(name, fields, fromTime) {
  const draft = {
    identity: `golden/${name}`,
    schedule: "0 * * * *",
    dst: DST_RULES[0],
    nominal_time: "2026-03-01T00:00:00Z",
    window_mode: "after",
    window_duration: "1h",
    timezone: "UTC",
    distribution: "uniform",
    dist_params: {},
    seed_strategy: "stable",
    salt: "",
    constraints_applied: { only: "", avoid: "" },
    ...fields,
  };
  const { compiled, nominalAt } = compileDraft(draft, fromTime);
  const record = toDecisionRecord(compiled, decide(compiled, nominalAt), VERSIONS);
  rows.push({ name, record, first: firstDraw(compiled, nominalAt) });
}

/** The nominal time is the schedule's first at or after `fromTime`. */
function compileDraft(draft, fromTime) {
  const read = readDecisionRecord(draft);
  if (!read.ok) {
    throw new Error(`${draft.identity}: ${read.error.map(({ message }) => message).join("; ")}`);
  }
  const compiled = compileRule(read.value.rule);
  return { compiled, nominalAt: compiled.schedule.next(Date.parse(fromTime) - 1) };
}

function firstDraw(compiled, nominalAt) {
  const [{ u, x }] = explainDecision(compiled, nominalAt).candidates;
  return { u, x };
}

function everyDistributionInEveryWindow() {
  for (const [d, [distribution, dist_params]] of DISTRIBUTIONS.entries()) {
    for (const [w, [window_mode, window_duration]] of WINDOWS.entries()) {
      const [timezone, days] = CLOCKS[(d + w) % CLOCKS.length];
      const fields = { distribution, dist_params, window_mode, window_duration, timezone, salt: w % 2 ? "pepper" : "" };
      const name = `${distribution}-${d}/${window_mode}-${window_duration}`;
      addRow(name, { ...fields, seed_strategy: STRATEGIES[(d * 3 + w) % 3] }, `${days[0]}T0${w}:00:00Z`);
    }
  }
}

function everyStrategyOnEveryClock() {
  for (const [timezone, days] of CLOCKS) {
    for (const day of days) {
      for (const [s, seed_strategy] of STRATEGIES.entries()) {
        for (const [i, dst] of DST_RULES.entries()) {
          const schedule = i % 2 === 0 ? "*/30 * * * *" : "15 2 * * *";
          const fields = { timezone, seed_strategy, dst, schedule, window_mode: "around", window_duration: "30m" };
          addRow(`${timezone}/${day}/${seed_strategy}/${i}`, fields, `${day}T0${s * 3}:00:00Z`);
        }
      }
    }
  }
}

function everyConstraint() {
  for (const [c, [only, avoid]] of CONSTRAINTS.entries()) {
    for (const [w, [window_mode, window_duration]] of WINDOWS.slice(0, 4).entries()) {
      const fields = { timezone: "Europe/Berlin", schedule: "0 9 * * *", window_mode, window_duration };
      const constraints_applied = { only, avoid };
      const [distribution, dist_params] = DISTRIBUTIONS[(c * 5 + w) % DISTRIBUTIONS.length];
      addRow(
        `constraint-${c}/${w}`,
        { ...fields, constraints_applied, distribution, dist_params },
        "2026-03-29T00:00:00Z",
      );
    }
  }
}

function unusualIdentities() {
  addRow("unicode", { identity: "störung/夜間/💾", salt: "пе́рец 🌶" }, "2026-03-01T00:00:00Z");
  addRow("longest", { identity: "i".repeat(512), salt: "s".repeat(512) }, "2026-03-01T00:00:00Z");
  addRow("blank", { identity: " ", salt: " " }, "2026-03-01T00:00:00Z");
  addRow("macro", { schedule: "@weekly", window_duration: "6h" }, "2026-03-02T00:00:00Z");
  addRow("leap day", { schedule: "0 0 29 2 *" }, "2025-01-01T00:00:00Z");
  addRow("iso year end", { seed_strategy: "weekly" }, "2027-01-03T23:00:00Z");
  addRow("iso year start", { seed_strategy: "weekly" }, "2024-12-30T00:00:00Z");
}

/** 64 draws each: a constraint that no candidate meets makes the explanation show them all, to the last bit. */
function drawTables() {
  return DISTRIBUTIONS.map(([distribution, dist_params], i) => {
    const draft = {
      identity: `golden/draws/${i}`,
      schedule: "0 12 * * *",
      dst: DST_RULES[0],
      nominal_time: "2026-03-01T12:00:00Z",
      window_mode: "around",
      window_duration: "2h",
      timezone: "UTC",
      distribution,
      dist_params,
      seed_strategy: "stable",
      salt: "",
      constraints_applied: { only: "hours=0", avoid: "" },
    };
    const { compiled, nominalAt } = compileDraft(draft, draft.nominal_time);
    const draws = explainDecision(compiled, nominalAt).candidates.map(({ u, x, secondInWindow }) => [
      u,
      x,
      secondInWindow,
    ]);
    return { record: toDecisionRecord(compiled, decide(compiled, nominalAt), VERSIONS), draws };
  });
}

if (fs.existsSync(TARGET) && !process.argv.includes("--force")) {
  console.error(
    `${path.relative(ROOT, TARGET)} exists; a change to it breaks the promise of version ${VERSION} (--force)`,
  );
  process.exitCode = 1;
} else {
  everyDistributionInEveryWindow();
  everyStrategyOnEveryClock();
  everyConstraint();
  unusualIdentities();
  const about =
    "Frozen decisions of contract version 1: every row must be recomputed value for value, on every engine.";
  const lines = (values) => values.map((value) => JSON.stringify(value)).join(",\n");
  const head = `"version": ${VERSION},\n"about": ${JSON.stringify(about)}`;
  fs.writeFileSync(TARGET, `{\n${head},\n"rows": [\n${lines(rows)}\n],\n"draws": [\n${lines(drawTables())}\n]\n}\n`);
  console.log(`${path.relative(ROOT, TARGET)}: ${rows.length} rows, ${DISTRIBUTIONS.length} draw tables`);
}
