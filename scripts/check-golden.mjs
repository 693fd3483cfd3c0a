/**
 * Recomputes the golden files with the built library and plain Node, to be run under every supported version:
 *
 *   node scripts/check-golden.mjs [LIBRARY]
 *
 * Prints one line; exits 1 and names the first differences when anything comes out otherwise.
 */
import * as fs from "node:fs";
import * as path from "node:path";
import { pathToFileURL } from "node:url";
import { isDeepStrictEqual } from "node:util";

const ROOT = path.resolve(import.meta.dirname, "..");
const SHOWN_FAILURES = 10;
const library = process.argv[2] ?? path.join(ROOT, "dist/index.js");
const { compileRule, decide, explainDecision, readDecisionRecord, toDecisionRecord, verifyRecord } = await import(
  pathToFileURL(path.resolve(library)).href
);

const failures = [];
let checks = 0;

function check(name, actual, expected) {
  checks++;
  if (!isDeepStrictEqual(actual, expected)) {
    failures.push(`${name}: ${JSON.stringify(actual)} instead of ${JSON.stringify(expected)}`);
  }
}

function read(file) {
  return JSON.parse(fs.readFileSync(path.join(ROOT, "test/golden", file), "utf8"));
}

function recompute(record) {
  const { rule, nominalAt } = readDecisionRecord(record).value;
  const compiled = compileRule(rule);
  const versions = { tzVersion: record.tz_version, engineVersion: record.engine_version };
  const decided = toDecisionRecord(compiled, decide(compiled, nominalAt), versions);
  return { decided, candidates: explainDecision(compiled, nominalAt).candidates };
}

function checkRow({ name, record, first }) {
  const { decided, candidates } = recompute(record);
  check(name, decided, record);
  check(`${name} verified`, verifyRecord(record, { tzVersion: "", engineVersion: "" }).differences, []);
  if (first !== undefined) {
    check(`${name} first draw`, { u: candidates[0].u, x: candidates[0].x }, first);
  }
}

read("published-vectors.json").rows.forEach(checkRow);
const frozen = read("decisions-v1.json");
frozen.rows.forEach(checkRow);
for (const { record, draws } of frozen.draws) {
  const { decided, candidates } = recompute(record);
  check(record.identity, decided, record);
  candidates.forEach(({ u, x, secondInWindow }, i) => {
    check(`${record.identity} draw ${i + 1}`, [u, x, secondInWindow], draws[i]);
  });
}

const state = failures.length === 0 ? "ok" : "FAILED";
const { node, v8, tz } = process.versions;
console.log(`golden ${state}: ${checks} checks, ${failures.length} differences (Node ${node}, V8 ${v8}, zones ${tz})`);
failures.slice(0, SHOWN_FAILURES).forEach((failure) => {
  console.error(failure);
});
process.exitCode = failures.length === 0 ? 0 : 1;
