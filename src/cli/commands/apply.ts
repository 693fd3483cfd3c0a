/** `kron apply`: job files, put in force on all nodes that share a database. */
import { systemClock } from "../../actors/clock.js";
import { createDecisionPool } from "../../actors/pool/decision-pool.js";
import type { PlanReport } from "../../actors/supervisor/port.js";
import { unwrap } from "../../core/base/result.js";
import type { EpochMs } from "../../core/time/instant.js";
import { parseSpan } from "../../core/time/span.js";
import { type ApplyReport, applyWish, type Comparison, compareWith, type Wish } from "../../krond/apply/apply.js";
import { plannedChanges, runningOf } from "../../krond/apply/changes.js";
import { unservedPools, wishOf } from "../../krond/apply/wish.js";
import { loadDaemonConfiguration } from "../../krond/boot/configuration.js";
import { poolThreads } from "../../krond/boot/start.js";
import type { StorePlace } from "../../persist/backends.js";
import { type AppliedSet, appliedText, publishedApplied } from "../applied-text.js";
import type { ParsedArgs } from "../args.js";
import { readPlace } from "../daemon.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { configurationSources, refuseFindings } from "../load.js";
import { printValue } from "../output.js";
import { permitOf } from "../permit-options.js";
import { type SharedPlace, withShared } from "../shared-place.js";
import { paintFor } from "../style.js";
import { trustChecks } from "./krond/trust.js";
import { DEFAULT_WAIT } from "./specs/apply.js";

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const waitMs = waitOf(args);
  // Files are judged before anything is asked of the database.
  const wish = await wishIn(args, io);
  return withShared(args, io, async (shared) => {
    const set = await applied(shared, wish, { waitMs, isDry: args.has("dry-run"), now: io.now() });
    await printValue(publishedApplied(set), () => appliedText(set, paintFor(args, io)), args, io);
    return isDone(set.report) ? EXIT.ok : EXIT.usage;
  });
}

function waitOf(args: ParsedArgs): number {
  const wait = parseSpan(args.text("wait") ?? DEFAULT_WAIT);
  if (!wait.ok) throw usageError(`--wait: ${wait.error.message}`, wait.error.hint);
  return wait.value;
}

function isDone(report: ApplyReport | null): boolean {
  return report === null || (!report.isOvertaken && report.stayed.length + report.behind.length === 0);
}

/** As `krond start` reads it; whatever is wrong ends the command, also where a start would go on without it. */
async function wishIn(args: ParsedArgs, io: CliIo): Promise<Wish> {
  const sources = await configurationSources(args, io);
  const pool = createDecisionPool({ threads: poolThreads() });
  try {
    const loader = { pool, sources, check: trustChecks(args.text("trust-owner"))(), permit: permitOf(args) };
    const { findings, located, written } = await loadDaemonConfiguration(loader, null);
    await refuseFindings(findings, sources, args, io);
    if (located === null) throw new Error("invariant broken: files that nobody has read before count as read");
    return await wishOf(located, written);
  } finally {
    await pool.close();
  }
}

interface Way {
  readonly waitMs: number;
  readonly isDry: boolean;
  readonly now: EpochMs;
}

async function applied({ place, admin }: SharedPlace, wish: Wish, { waitMs, isDry, now }: Way): Promise<AppliedSet> {
  const running = (identities: readonly string[]): Promise<ReadonlySet<string>> =>
    identities.length === 0 ? nobody : readPlace(place, (reader) => runningOf(reader, identities));
  const ports = { admin, running, clock: systemClock };
  const { compared, report } = isDry
    ? { compared: await compareWith(admin, wish), report: null }
    : await applyWish(ports, wish, waitMs);
  const plan = await planned(place, wish, compared, now);
  const nodes = unwrap(await admin.nodes());
  return { comparison: compared, plan, report, nodes, unserved: unservedPools(wish, nodes) };
}

const nobody: Promise<ReadonlySet<string>> = Promise.resolve(new Set<string>());

/** Where nothing differs nothing has to be read. */
async function planned(place: StorePlace, wish: Wish, comparison: Comparison, now: EpochMs): Promise<PlanReport> {
  if (comparison.before.size > 0) {
    return readPlace(place, (reader) => plannedChanges(reader, wish, comparison, now));
  }
  const { added, removed, unchanged } = comparison.applied;
  return { added, removed, changed: [], unchanged };
}
