/**
 * Explicit migrations from one version of the state document to the next (STATE). A migration is a deterministic
 * transformation that may not lose the last handled period: that is checked here, not trusted.
 */
import type { Problem } from "../base/problem.js";
import { err, ok, type Result } from "../base/result.js";
import { STATE_VERSION } from "./document.js";

export type RawDocument = Readonly<Record<string, unknown>>;

export interface Migration {
  readonly from: string;
  readonly to: string;
  /** The last handled period as the old version has it; empty: none. */
  readonly lastHandledOf: (raw: RawDocument) => string;
  readonly apply: (raw: RawDocument) => RawDocument;
}

/** Version "1" is the first: there is nothing to migrate from yet. */
export const MIGRATIONS: readonly Migration[] = [];

/** The same document in the current version, by as many steps as it takes. */
export function migrate(raw: RawDocument, migrations: readonly Migration[] = MIGRATIONS): Result<RawDocument, Problem> {
  const steps = pathFrom(raw["Version"], migrations);
  const lastHandled = steps[0]?.lastHandledOf(raw) ?? raw["LastHandledPeriodID"];
  let current = raw;
  for (const step of steps) {
    current = step.apply(current);
    if (current["Version"] !== step.to) {
      return err(failed(`the migration from version ${step.from} does not lead to ${step.to}`));
    }
  }
  if (current["Version"] !== STATE_VERSION) {
    return err(unsupported(raw["Version"]));
  }
  return current["LastHandledPeriodID"] === lastHandled ? ok(current) : err(failed("the last handled period was lost"));
}

/** The steps that lead on from `version`; each step is taken once, so that the walk ends. */
function pathFrom(version: unknown, migrations: readonly Migration[]): readonly Migration[] {
  const step = version === STATE_VERSION ? undefined : migrations.find((migration) => migration.from === version);
  if (step === undefined) {
    return [];
  }
  return [
    step,
    ...pathFrom(
      step.to,
      migrations.filter((migration) => migration !== step),
    ),
  ];
}

function failed(message: string): Problem {
  return { code: "state-migration-failed", message, path: ["Version"] };
}

function unsupported(version: unknown): Problem {
  const message = `version ${JSON.stringify(version) ?? "(none)"} of the state document is not supported`;
  const hint = `this Kron reads version ${JSON.stringify(STATE_VERSION)}`;
  return { code: "state-incompatible", message, path: ["Version"], hint };
}
