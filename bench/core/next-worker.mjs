/** One library, one zone, one process with TZ set to it: prints the rounds as JSON. Started by index.mjs. */
import { roundsOf } from "../lib/measure.mjs";
import { EXPRESSIONS, starts } from "./mix.mjs";
import { STEPPERS } from "./steppers.mjs";

const [library, zone, rounds, roundMs] = process.argv.slice(2);
const stepperFor = await STEPPERS[library].open();
const steppers = EXPRESSIONS.map((expression) => stepperFor(expression, zone));
const at = starts(4096);

let sink = 0;
const batch = (count) => {
  for (let i = 0; i < count; i += 1) sink += steppers[i % steppers.length](at[(i * 7) & 4095]);
};
const values = roundsOf(batch, { rounds: Number(rounds), roundMs: Number(roundMs) });
process.stdout.write(JSON.stringify({ values, sink }));
process.exit(0);
