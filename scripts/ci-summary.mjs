/** Turns the test runner's own report into the closing line of the gate; names every skipped test with its reason. */
import { existsSync, readFileSync } from "node:fs";

const [reportFile, failedSteps] = process.argv.slice(2);
if (!existsSync(reportFile)) {
  process.stdout.write("the test runner left no report\n0 passed, 1 failed, 0 skipped\n");
  process.exit(1);
}
const report = JSON.parse(readFileSync(reportFile, "utf8"));
const tests = report.testResults.flatMap((file) => file.assertionResults);
const skipped = tests.filter(
  (test) => test.status === "pending" || test.status === "skipped" || test.status === "todo",
);
for (const test of skipped) process.stdout.write(`skipped: ${test.fullName}\n`);
const passed = tests.filter((test) => test.status === "passed").length;
// A file that failed to load has no tests of its own, and a gate step that failed is a failure too.
const brokenFiles = report.testResults.filter(
  (file) => file.status === "failed" && file.assertionResults.every((test) => test.status !== "failed"),
);
const failed = tests.filter((test) => test.status === "failed").length + brokenFiles.length + Number(failedSteps);
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped.length} skipped\n`);
process.exit(failed === 0 && passed > 0 ? 0 : 1);
