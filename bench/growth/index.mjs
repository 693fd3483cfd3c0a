/**
 * P11: what one event costs when there is ten, a hundred, a thousand times as much. Kron is its own peer here: every
 * size is compared with the smallest. The picture is drawn from the kept results, together with the page.
 */
import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { bundle } from "../lib/bundle.mjs";
import { median, spread } from "../lib/measure.mjs";
import { row } from "../lib/report.mjs";
import { inWorkplace } from "../lib/workplace.mjs";
import { CURVES, US_NS } from "./curves.mjs";
import { slopeOf } from "./slope.mjs";

const ENTRY = fileURLToPath(new URL("./entry.ts", import.meta.url));
const WORKER = fileURLToPath(new URL("./worker.mjs", import.meta.url));
const HEAP_MIB = 6_144;

const NOTES = [
  "P11: what only computes is measured in processor time, so that other work on the machine does not count; the store in time that passed, for it waits for the disk.",
  "P11: the exponent of growth: 1 is proportional, 0 is not at all; log n from a thousand to a million is 0.1, and memory that no longer fits the caches adds to it.",
];

function measure(settings) {
  const args = [`--max-old-space-size=${HEAP_MIB}`, WORKER, JSON.stringify(settings)];
  const out = execFileSync(process.execPath, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
  return JSON.parse(out).values;
}

function measureCurve(name, settings, isFull) {
  const { fullSizes, sizes } = CURVES[name];
  return (isFull ? fullSizes : sizes).map((size) => {
    process.stderr.write(`bench: growth, ${name}, ${size.toLocaleString("en")} ...\n`);
    return { size, rounds: measure({ ...settings, curve: name, size }) };
  });
}

function curveOf(name, points) {
  const curve = points.map(({ size, rounds }) => ({ x: size, y: median(rounds) }));
  return { name, ...CURVES[name], points: curve, slope: slopeOf(curve) };
}

function rowsOf(curve, measured) {
  const [first] = curve.points;
  return measured.map(({ size, rounds }, index) =>
    row({
      id: "P11",
      name: `${curve.label}, ${size.toLocaleString("en")} ${curve.of}`,
      value: median(rounds) / US_NS,
      unit: "µs",
      better: "lower",
      peer: index === 0 ? null : `itself at ${first.x.toLocaleString("en")}`,
      peer_value: index === 0 ? null : first.y / US_NS,
      spread: rounds.length > 1 ? spread(rounds) : null,
      slope: curve.slope,
      size,
      curve: curve.name,
      grows: curve.grows,
    }),
  );
}

export async function run({ isQuick, isFull }) {
  const settings = isQuick ? { rounds: 3, roundMs: 100 } : { rounds: 5, roundMs: 500 };
  const rows = [];
  await inWorkplace("growth", async (directory) => {
    const bundled = await bundle(ENTRY, directory, "kron");
    for (const name of Object.keys(CURVES)) {
      const measured = measureCurve(name, { ...settings, bundle: bundled, directory }, isFull);
      const curve = curveOf(name, measured);
      process.stderr.write(`bench: growth, ${name}: exponent ${curve.slope.toFixed(2)}\n`);
      rows.push(...rowsOf(curve, measured));
    }
  });
  return { rows, notes: NOTES };
}
