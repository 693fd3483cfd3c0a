/** Which jobs a list is to show. */
import type { JobStatus } from "../../actors/supervisor/port.js";
import { type EpochMs, parseInstant } from "../../core/time/instant.js";
import type { StateReader } from "../../persist/store.js";
import { type IdentityFilter, identityFilter } from "./identity-glob.js";

export const STANDINGS = [
  "enabled",
  "suspended",
  "paused",
  "removed",
] as const satisfies readonly JobStatus["standing"][];

/** An empty list lets everything through; of several words in one any will do, and each list must agree. */
export interface ListFilter {
  /** Patterns (see `matchesGlob`). */
  readonly identities: readonly string[];
  readonly standings: readonly JobStatus["standing"][];
  readonly tags: readonly string[];
  /** Only jobs whose last run did not succeed, or whose last period was missed or found no second. */
  readonly isFailing?: boolean | undefined;
  /** Only jobs of which something runs. */
  readonly isRunning?: boolean | undefined;
  /** Only jobs whose next run is due at or before this instant. */
  readonly dueBy?: EpochMs | undefined;
}

export const ALL_JOBS: ListFilter = { identities: [], standings: [], tags: [] };

/** Whether somebody should look at the job. */
export function isFailed({ lastRun, lastOutcome }: Pick<JobStatus, "lastRun" | "lastOutcome">): boolean {
  const hasFailed = lastRun !== null && lastRun.result !== "success";
  return hasFailed || lastOutcome === "missed" || lastOutcome === "unschedulable";
}

export class ListJudge {
  private readonly isNamed: IdentityFilter;

  constructor(
    private readonly filter: ListFilter,
    private readonly reader: Pick<StateReader, "newestVersion">,
  ) {
    this.isNamed = filter.identities.length === 0 ? () => true : identityFilter(filter.identities);
  }

  async wanted(rows: readonly JobStatus[]): Promise<readonly JobStatus[]> {
    const { standings, tags } = this.filter;
    const named = rows.filter((row) => {
      const { identity, standing } = row;
      const isNamed = this.isNamed(identity) && (standings.length === 0 || standings.includes(standing));
      return isNamed && this.isAsItShould(row);
    });
    if (tags.length === 0) return named;
    const isTagged = await Promise.all(named.map(({ identity }) => this.isTagged(identity)));
    return named.filter((_, index) => isTagged[index]);
  }

  private isAsItShould(row: JobStatus): boolean {
    const { isFailing = false, isRunning = false, dueBy } = this.filter;
    if (isFailing && !isFailed(row)) return false;
    if (isRunning && row.active.length === 0) return false;
    if (dueBy === undefined) return true;
    const next = parseInstant(row.nextChosenTime ?? "");
    return row.standing === "enabled" && next.ok && next.value <= dueBy;
  }

  private async isTagged(identity: string): Promise<boolean> {
    const version = await this.reader.newestVersion(identity);
    if (version === undefined || version.text === null || !version.isIntact) return false;
    // What the daemon wrote itself.
    const { tags = [] } = JSON.parse(version.text) as { readonly tags?: readonly string[] };
    return this.filter.tags.some((tag) => tags.includes(tag));
  }
}

/**
 * What every identity must begin with that any of the patterns matches: only of ASCII, within which bytes and characters
 * have the same order.
 */
export function literalPrefix(patterns: readonly string[]): string {
  const [first = "", ...rest] = patterns.map((pattern) => /^[^*?]*/.exec(pattern)?.[0].replace(/[^ -~].*$/s, "") ?? "");
  return rest.reduce(commonPrefix, first);
}

function commonPrefix(one: string, other: string): string {
  let length = 0;
  while (length < one.length && one[length] === other[length]) length += 1;
  return one.slice(0, length);
}
