/**
 * A start at a server that has taken over, and may have forgotten what was confirmed last (C12): what was due until then and is not
 * on record counts as handled, whether or not it has run. It is put on record before anything is looked at, and may be done twice.
 */
import { KronError } from "../../../core/base/errors/kron-error.js";
import type { Settings } from "../../../core/config/settings.js";
import { compileRule } from "../../../core/decision/compile.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import { storedDefinition } from "../../../core/job/stored.js";
import type { StoredJob } from "../../../core/restart/resting.js";
import type { StateDocument } from "../../../core/state/document.js";
import { type FenceRules, fenceDocument } from "../../../core/state/fence.js";
import { parseDocument } from "../../../core/state/parse.js";
import { type EpochMs, formatSecond } from "../../../core/time/instant.js";
import type { DocumentKey } from "../../../persist/keys.js";
import { CLOCKS_APART_MS, type LedgerRecord } from "../../../persist/store.js";
import type { Noted } from "../../messenger/notices.js";
import type { SupervisorPorts } from "../port.js";
import { documentWrite } from "../write/contribution.js";
import type { SupervisorEvent } from "../write/events.js";
import { ledgerRecordOf } from "../write/ledger-text.js";

type WritePorts = Pick<SupervisorPorts, "bootId" | "clock" | "notices" | "store" | "term">;

type FencePorts = WritePorts & {
  onEvent(event: SupervisorEvent): void;
};

/** Rejects where a definition cannot be read: then nobody can tell what was due of its job. */
export async function fenceAfterFailover(ports: FencePorts, settings: Settings): Promise<void> {
  const { clock, store, term } = ports;
  const upToAt = (await store.failover?.dueUpTo()) ?? null;
  if (store.failover === undefined || upToAt === null) return;
  await untilPast(ports, upToAt);
  const now = clock.now();
  let [jobs, fenced] = [0, 0];
  for await (const slice of store.jobs()) {
    const written = slice.flatMap((job) => fencedJob(job, ports, rulesOf(ports, settings, upToAt)) ?? []);
    await commit(ports, written);
    jobs += slice.length;
    fenced += written.length;
  }
  await store.failover.settled(term, upToAt);
  const fields = { up_to: formatSecond(upToAt), jobs, fenced };
  ports.onEvent({ at: now, event: "failover_fenced", component: "persist", level: "warn", fields });
}

/**
 * Of a job that comes in while others are looked after already: it may come out of a shard that nobody has looked after since
 * another server took over. Where it was fenced there, this changes nothing.
 */
export async function fenceOnArrival(
  ports: WritePorts,
  settings: Settings,
  document: StateDocument,
  definition: JobDefinition,
): Promise<StateDocument> {
  const upToAt = (await ports.store.failover?.upTo()) ?? null;
  // What was taken out begins anew (S14).
  if (upToAt === null || document.RemovedAt !== undefined) return document;
  const fenced = fencedBy(document, definition, ports, rulesOf(ports, settings, upToAt));
  if (fenced === null) return document;
  await commit(ports, [fenced]);
  return fenced.document;
}

function rulesOf({ bootId, clock }: WritePorts, { history }: Settings, upToAt: EpochMs): FenceRules {
  return { upToAt, now: clock.now(), historyLimit: history.keep, bootId, reason: "failover_fenced" };
}

interface Fenced {
  readonly document: StateDocument;
  readonly ledger: readonly LedgerRecord[];
  /** What people are to be told of it. */
  readonly noted: Noted | null;
}

async function commit({ store, term }: WritePorts, fenced: readonly Fenced[]): Promise<void> {
  if (fenced.length === 0) return;
  const documents = fenced.map(({ document }) => documentWrite(document));
  const meta = fenced.flatMap(({ noted }) => noted?.notes ?? []).map(({ key, text }) => ({ key, text }));
  await store.commit(term, { documents, ledger: fenced.flatMap(({ ledger }) => ledger), meta });
  for (const { noted } of fenced) noted?.posted();
}

/** Without a definition in force nothing is due; of a damaged document the start says what becomes of it. */
function fencedJob(job: StoredJob, ports: WritePorts, rules: FenceRules): Fenced | null {
  const { key, documentText, isDocumentIntact, definitionText, isDefinitionIntact, identity } = job;
  if (documentText === null || !isDocumentIntact) return null;
  if (definitionText === null && isDefinitionIntact) return null;
  const document = parseDocument(documentText, key as DocumentKey);
  if (!document.ok) return null;
  const definition = definitionText === null ? null : storedDefinition(definitionText);
  if (definition === null) throw unreadable(identity ?? document.value.Identity);
  return fencedBy(document.value, definition, ports, rules);
}

/** null: nothing was due. */
function fencedBy(
  before: StateDocument,
  definition: JobDefinition,
  { notices }: WritePorts,
  rules: FenceRules,
): Fenced | null {
  const { document, facts } = fenceDocument(before, compileRule(definition), rules);
  if (facts.length === 0) return null;
  const ledger = facts.map((fact) => ledgerRecordOf(fact, document, null));
  return { document, ledger, noted: notices?.of(definition, facts) ?? null };
}

/** Of a job without a record nobody knows whether it was there before: it begins when what it may have run is over. */
async function untilPast({ clock }: Pick<FencePorts, "clock">, upToAt: EpochMs): Promise<void> {
  const leftMs = Math.min(upToAt - clock.now() + 1, CLOCKS_APART_MS);
  if (leftMs > 0) await new Promise<void>((resolve) => clock.after(leftMs, resolve));
}

function unreadable(identity: string): KronError {
  const message = `the definition on record of ${identity} cannot be read: what it may have run before another server took over is not known`;
  return new KronError("definition-unreadable", message, { component: "persist", operation: "fence", identity });
}
