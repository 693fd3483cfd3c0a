import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { Uptime } from "../../../../src/actors/launcher/daemon/uptime.js";

const NOW = Date.UTC(2026, 10, 18, 14, 30, 0, 250);

function bootHundredths(): number {
  return Math.round(Number(readFileSync("/proc/uptime", "latin1").split(" ", 1)[0]) * 100);
}

test.each([
  { name: "the second that runs ends in 749 ms", latestAt: NOW, hundredths: 74 },
  { name: "a whole second counts to its end", latestAt: NOW - 250, hundredths: 74 },
  { name: "a deadline half a minute away", latestAt: NOW + 30_000, hundredths: 3_074 },
  { name: "a second that has passed lies before now", latestAt: NOW - 1_000, hundredths: -26 },
])("S20: the last moment of a start, since the boot: $name", ({ latestAt, hundredths }) => {
  const uptime = new Uptime();
  const before = bootHundredths();
  const found = uptime.hundredthsAt(latestAt, NOW);
  expect(found).toBeGreaterThanOrEqual(before + hundredths);
  expect(found).toBeLessThanOrEqual(bootHundredths() + hundredths);
});

test("S20: every question is answered by the time of that question", () => {
  const uptime = new Uptime();
  const first = uptime.hundredthsAt(NOW, NOW);
  const later = bootHundredths() + 2;
  while (bootHundredths() < later);
  expect(uptime.hundredthsAt(NOW, NOW)).toBeGreaterThan(first);
});
