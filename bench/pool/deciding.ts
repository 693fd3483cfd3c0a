import { compileRule } from "../../src/core/decision/compile.js";
import { decide } from "../../src/core/decision/decide.js";
import { readJobDefinition } from "../../src/core/job/schema.js";

const FIRST_AT = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;

/** The chosen times of so many periods of one job, from the one numbered `from` on. */
export function decideMany(from: number, count: number): Float64Array<ArrayBuffer> {
  const read = readJobDefinition({
    identity: "prod/db-backup",
    schedule: "0 * * * *",
    window: { mode: "after", duration: "1h" },
    seed: { salt: "backup" },
    command: ["/usr/bin/backup"],
  });
  if (!read.ok) throw new Error(JSON.stringify(read.error));
  const compiled = compileRule(read.value);
  const chosenAt = new Float64Array(count);
  for (let at = 0; at < count; at++) chosenAt[at] = decide(compiled, FIRST_AT + (from + at) * HOUR_MS).chosenAt ?? 0;
  return chosenAt;
}
