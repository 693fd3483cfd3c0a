/**
 * A document as text, byte-stable: equal documents give equal texts, whatever the order in which their fields came to
 * be. Fields this version does not know are kept, after the known ones: an older program must not forget what a newer
 * one wrote.
 */
import type { ActiveState, HistoryEntry, StateDocument } from "./document.js";

export function serialiseDocument(document: StateDocument): string {
  const { ActiveExecution, OtherActive, LastSlot } = document;
  // JSON.stringify leaves out what is undefined: exactly the additive fields that are absent.
  const ordered: Record<keyof StateDocument, unknown> = {
    Version: document.Version,
    Identity: document.Identity,
    LastHandledPeriodID: document.LastHandledPeriodID,
    LastOutcome: document.LastOutcome,
    LastChosenTime: document.LastChosenTime,
    LastNominalTime: document.LastNominalTime,
    ActiveExecution: ActiveExecution === null ? undefined : activeInOrder(ActiveExecution),
    History: document.History.map(entryInOrder),
    OtherActive: OtherActive?.length ? OtherActive.map(activeInOrder) : undefined,
    LastSlot: LastSlot === undefined ? undefined : sorted(LastSlot),
    LastReason: document.LastReason,
    DefinedAt: document.DefinedAt,
    DefinitionHash: document.DefinitionHash,
    CarriedPeriodID: document.CarriedPeriodID,
    Pause: document.Pause,
    RemovedAt: document.RemovedAt,
    LastRunAt: document.LastRunAt,
    Hints: document.Hints,
    EvaluatesFrom: document.EvaluatesFrom,
    Retry: document.Retry,
    Boot: document.Boot,
  };
  return JSON.stringify(withUnknown(ordered, document));
}

function activeInOrder(active: ActiveState): object {
  const ordered: Record<keyof ActiveState, unknown> = {
    PeriodID: active.PeriodID,
    PID: active.PID,
    StartedAt: active.StartedAt,
    ChosenTime: active.ChosenTime,
    PIDStartTicks: active.PIDStartTicks,
    BootID: active.BootID,
    AttemptID: active.AttemptID,
    Source: active.Source,
    Confirmed: active.Confirmed,
    Holder: active.Holder,
    Node: active.Node,
    RetryOf: active.RetryOf,
    Attempt: active.Attempt,
  };
  return withUnknown(ordered, active);
}

function entryInOrder(entry: HistoryEntry): object {
  const ordered: Record<keyof HistoryEntry, unknown> = {
    PeriodID: entry.PeriodID,
    Outcome: entry.Outcome,
    NominalTime: entry.NominalTime,
    ChosenTime: entry.ChosenTime,
    CompletedAt: entry.CompletedAt,
    ExitCode: entry.ExitCode,
    Reason: entry.Reason,
    StartedAt: entry.StartedAt,
    Signal: entry.Signal,
    Source: entry.Source,
    Holder: entry.Holder,
    Status: entry.Status,
    DurationMs: entry.DurationMs,
    RetryOf: entry.RetryOf,
    Attempt: entry.Attempt,
  };
  return withUnknown(ordered, entry);
}

function withUnknown(ordered: object, value: object): object {
  for (const key in value) {
    if (!Object.hasOwn(ordered, key)) {
      return allFields(ordered, value);
    }
  }
  return ordered;
}

/** `Object.fromEntries` defines own properties, so that even a field named `__proto__` stays plain data. */
function allFields(ordered: object, value: object): object {
  const unknown = Object.entries(value).filter(([key]) => !Object.hasOwn(ordered, key));
  return Object.fromEntries([...Object.entries(ordered), ...unknown]);
}

function sorted(slots: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(slots).sort(([one], [other]) => (one < other ? -1 : 1)));
}
