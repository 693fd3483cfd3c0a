/**
 * Turns the test runner's own reports into the closing line of the gate, `ci-summary.mjs FAILED_STEPS REPORT...`; names
 * every skipped test with its reason.
 */
import { existsSync, readFileSync } from "node:fs";

const SKIPPED = new Set(["pending", "skipped", "todo"]);

/** What one run of tests came to; a run that left no report has failed. */
function countsOf(file) {
  if (!existsSync(file)) {
    process.stdout.write(`the test runner left no report in ${file}\n`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  const { testResults } = JSON.parse(readFileSync(file, "utf8"));
  const tests = testResults.flatMap((result) => result.assertionResults);
  const skipped = tests.filter(({ status }) => SKIPPED.has(status));
  for (const test of skipped) process.stdout.write(`skipped: ${test.fullName}\n`);
  // A file that failed to load has no tests of its own.
  const broken = testResults.filter(
    (result) => result.status === "failed" && result.assertionResults.every(({ status }) => status !== "failed"),
  );
  const passed = tests.filter(({ status }) => status === "passed").length;
  // A run without tests shows nothing.
  const empty = tests.length === 0 ? 1 : 0;
  const failed = tests.filter(({ status }) => status === "failed").length + broken.length + empty;
  return { passed, failed, skipped: skipped.length };
}

const [failedSteps, ...reports] = process.argv.slice(2);
const counts = reports.map(countsOf);
const sum = (name) => counts.reduce((total, count) => total + count[name], 0);
// A step of the gate that failed is a failure too.
const failed = sum("failed") + Number(failedSteps);
process.stdout.write(`${sum("passed")} passed, ${failed} failed, ${sum("skipped")} skipped\n`);
process.exit(failed === 0 && sum("passed") > 0 ? 0 : 1);
