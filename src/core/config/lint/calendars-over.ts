/** Calendars that are used and have no day any more: nobody has written the next years into them. */
import type { CompiledRule } from "../../decision/model.js";
import type { Clause } from "../../decision/rule.js";
import { DAY_MS, type EpochMs, formatInstant } from "../../time/instant.js";
import { LINT_HORIZON_MS, type LintWarning } from "./warning.js";

/** Jobs that a warning names. */
const NAMED_JOBS = 5;

export function calendarsOver(jobs: readonly CompiledRule[], at: EpochMs): readonly LintWarning[] {
  const users = new Map<string, { readonly clause: Clause; readonly identities: string[] }>();
  for (const { rule } of jobs) {
    for (const clause of [...rule.constraints.only, ...rule.constraints.avoid]) {
      if (clause.kind !== "calendar" || hasDayAhead(clause, at)) continue;
      // Files may define the same name differently: those that end on the same day are told of as one.
      const key = `${clause.name} ${clause.ranges.at(-1)?.to}`;
      const known = users.get(key) ?? { clause, identities: [] };
      if (!known.identities.includes(rule.identity)) known.identities.push(rule.identity);
      users.set(key, known);
    }
  }
  return [...users.values()].map(({ clause, identities }) => warningOf(clause, identities));
}

/** A day on either side, because zones are not asked. */
function hasDayAhead({ ranges }: Clause, at: EpochMs): boolean {
  const [from, to] = [Math.floor(at / DAY_MS) - 1, Math.floor((at + LINT_HORIZON_MS) / DAY_MS) + 1];
  return ranges.some((range) => range.from <= to && range.to >= from);
}

function warningOf({ name, ranges }: Clause, identities: readonly string[]): LintWarning {
  const last = formatInstant((ranges.at(-1)?.to ?? 0) * DAY_MS).slice(0, "YYYY-MM-DD".length);
  const days = Math.round(LINT_HORIZON_MS / DAY_MS);
  const count = identities.length === 1 ? "a job uses it" : `${identities.length} jobs use it`;
  const message = `the calendar ${name} has no date in the next ${days} days, its last one is ${last}; ${count}`;
  const hint = "write the dates of the coming years into it";
  return { kind: "calendar-over", identities: identities.slice(0, NAMED_JOBS), message, hint };
}
