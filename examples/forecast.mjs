// What will the night bring? A forecast, a gate, and windows that flatten the peak.
// In your own project: npx kron forecast ..., npx kron tune ...
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const path = (name) => fileURLToPath(new URL(name, import.meta.url));
const NIGHT = ["--from", "2026-11-19T22:00:00Z", "--horizon", "4h"];

function kron(verb, ...argv) {
  const args = [path("../dist/kron.js"), verb, path("forecast/fleet.yaml"), ...NIGHT, ...argv];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  return { status, stdout, stderr };
}

const forecast = JSON.parse(kron("forecast", "-o", "json").stdout);
const [peak] = forecast.with_windows.peaks;
const [cron] = forecast.without_windows.peaks;
console.log(
  `cron would start ${cron.starts} jobs at ${cron.start}; with windows the fullest minute has ${peak.starts}`,
);
assert.deepEqual([cron.start, cron.starts, peak.starts], ["2026-11-20T00:00:00Z", 8, 7]);

// In CI: fail when a minute gets fuller than the machine can take, and say whose jobs it is.
const gate = kron("forecast", "--max-peak", "5");
assert.equal(gate.status, 2);
console.log(gate.stderr.trimEnd());

// And what to do about it. Nothing is written without --write.
const tuned = JSON.parse(kron("tune", "--target-peak", "3", "-o", "json").stdout);
console.log(`tuned: ${tuned.before.starts} becomes ${tuned.after.starts}, ${tuned.proposals.length} jobs change`);
assert.equal(tuned.is_target_reached, true);
assert.ok(tuned.proposals.every(({ identity }) => identity !== "shop/close-of-day"));
