/**
 * docs/benchmarks.md from what was measured: the prose is the template's, the figures are the reports'. The same reports
 * give the same bytes, so that a test can say whether the page is what the results are.
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { growthPicture } from "../growth/plot.mjs";
import { timesBetter } from "./report.mjs";
import { BUDGETS, LAYOUTS } from "./sections.mjs";
import { flatTable, growthTable, pivotTables } from "./tables.mjs";

const BENCH = fileURLToPath(new URL("../", import.meta.url));
const RESULTS = `${BENCH}results/`;
const TEMPLATE = `${BENCH}lib/benchmarks.template.md`;
const REASONS = `${BENCH}lib/reasons.json`;
const DOCS = fileURLToPath(new URL("../../docs/", import.meta.url));
const PLACEHOLDER = /^\{\{([A-Za-z0-9 ]+)\}\}$/gm;
const NOT_MEASURED = "Not measured yet.";

export function resultFiles() {
  if (!existsSync(RESULTS)) return [];
  const names = readdirSync(RESULTS).filter((name) => name.endsWith(".json"));
  return names.sort().map((name) => RESULTS + name);
}

export function saveResult(name, report) {
  mkdirSync(RESULTS, { recursive: true });
  writeFileSync(`${RESULTS}${name}.json`, `${JSON.stringify(report, null, 2)}\n`);
}

export function readReports(files) {
  return files.map((file) => JSON.parse(readFileSync(file, "utf8")));
}

/** Rows of one name belong together, because only figures of one run may be compared: the newest run that has any wins. */
function mergedGroups(reports) {
  const groups = new Map();
  const byAge = [...reports].sort((a, b) => (a.date < b.date ? -1 : 1));
  for (const report of byAge) {
    const own = new Map();
    for (const row of report.rows) {
      const key = `${row.id}\n${row.name}`;
      own.set(key, { report, rows: [...(own.get(key)?.rows ?? []), row] });
    }
    for (const [key, group] of own) groups.set(key, group);
  }
  return [...groups.values()];
}

function machineLine({ date, machine }) {
  const busy = machine.load > 0 ? `, load ${machine.load} when it began` : "";
  return `Measured ${date.slice(0, 10)} with Node ${machine.node} (V8 ${machine.v8}, zone data ${machine.tz}) on ${machine.platform}, ${machine.cores} cores (${machine.cpu}), ${machine.memory_gib} GiB${busy}.`;
}

function idsOf(note) {
  const prefix = /^((?:[PD]\d+b?)(?:-[PD]?\d+)?)\b/.exec(note)?.[1];
  if (prefix === undefined) return null;
  const [first, last = first] = prefix.split("-");
  if (first === last) return [first];
  const kind = first[0];
  const range = [Number(first.slice(1)), Number(last.replace(/\D/g, ""))];
  return Array.from({ length: range[1] - range[0] + 1 }, (_, index) => `${kind}${range[0] + index}`);
}

/** The section says already which budget it is about. */
function withoutBudget(note) {
  const [, text] = /^[PD]\d+b?(?:-[PD]?\d+)?: (.*)$/s.exec(note) ?? [];
  const shown = text === undefined ? note : text[0].toUpperCase() + text.slice(1);
  return shown.replaceAll(/\s+/g, " ");
}

/** What the runs themselves had to say about a section, each once. Notes that name no budget belong to the first of their run. */
function notesOf(reports, ids) {
  const notes = reports.flatMap((report) =>
    (report.notes ?? []).filter((note) => (idsOf(note) ?? [report.rows[0]?.id]).some((id) => ids.includes(id))),
  );
  return [...new Set(notes)].map((note) => `- ${withoutBudget(note)}`);
}

/** Explanations that live beside the benchmarks, as bullets that name the budget: "- `boot` (P4): ...". */
function writtenNotes(ids) {
  const files = readdirSync(BENCH, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && existsSync(`${BENCH}${entry.name}/notes.md`))
    .map(({ name }) => `${BENCH}${name}/notes.md`);
  const bullets = files.sort().flatMap((file) =>
    readFileSync(file, "utf8")
      .trimEnd()
      .split(/\n(?=- )/),
  );
  return bullets.filter((bullet) => ids.includes(/^- `[\w -]+` \(([PD]\d+b?)\)/.exec(bullet)?.[1]));
}

function verdictOf({ key, budget, figure, isHeld, told }, rows, reasons) {
  const value = figure(rows, timesBetter);
  if (value === null) return `| ${budget} | - | not measured |`;
  const verdict = isHeld(value) ? "held" : "**missed**";
  const reason = !isHeld(value) && reasons[key] !== undefined ? `: ${reasons[key]}` : "";
  return `| ${budget} | ${told(value)} | ${verdict}${reason} |`;
}

function budgetTable(ids, rows, reasons) {
  const budgets = BUDGETS.filter(({ id }) => ids.includes(id));
  if (budgets.length === 0) return [];
  const lines = budgets.map((budget) => verdictOf(budget, rows, reasons));
  return [["| budget | measured | |", "|---|---|---|", ...lines].join("\n")];
}

function tablesOf(id, rows) {
  if (id === "P11") return [growthTable(rows)];
  const layout = LAYOUTS[id];
  return layout === undefined ? [flatTable(rows)] : pivotTables(rows, layout);
}

function sectionOf(ids, groups, reasons) {
  const own = groups.filter(({ rows }) => ids.includes(rows[0].id));
  const rows = own.flatMap((group) => group.rows);
  if (rows.length === 0) return NOT_MEASURED;
  const reports = [...new Set(own.map(({ report }) => report))];
  const tables = tablesOf(ids[0], rows);
  const notes = [...writtenNotes(ids), ...notesOf(reports, ids)].join("\n");
  const machines = [...new Set(reports.map(machineLine))].join(" ");
  return [machines, ...budgetTable(ids, rows, reasons), ...tables, notes].filter((part) => part !== "").join("\n\n");
}

export function renderDocument(reports) {
  const template = readFileSync(TEMPLATE, "utf8");
  const reasons = JSON.parse(readFileSync(REASONS, "utf8"));
  const groups = mergedGroups(reports);
  const named = [...template.matchAll(PLACEHOLDER)].flatMap(([, ids]) => ids.split(" "));
  const strays = groups.filter(({ rows }) => !named.includes(rows[0].id)).map(({ rows }) => rows[0].id);
  if (strays.length > 0) throw new Error(`bench: the template has no place for ${[...new Set(strays)].join(", ")}`);
  return template.replace(PLACEHOLDER, (_, ids) => sectionOf(ids.split(" "), groups, reasons));
}

/** The page and its picture, by file name in docs/. */
export function renderFiles(reports) {
  const picture = growthPicture(mergedGroups(reports).flatMap(({ rows }) => rows));
  return new Map([["benchmarks.md", renderDocument(reports)], ...(picture === null ? [] : [["growth.svg", picture]])]);
}

/** Returns the exit code. `isCheck`: nothing is written, the files are only compared. */
export function writeDocument(files, { isCheck }) {
  const rendered = renderFiles(readReports(files.length > 0 ? files : resultFiles()));
  const isSame = (name, text) => existsSync(DOCS + name) && readFileSync(DOCS + name, "utf8") === text;
  const changed = [...rendered].filter(([name, text]) => !isSame(name, text));
  for (const [name, text] of changed) {
    if (isCheck) process.stderr.write(`bench: docs/${name} is not what bench/results give; run --document\n`);
    else writeFileSync(DOCS + name, text);
  }
  return isCheck && changed.length > 0 ? 1 : 0;
}
