/**
 * A document as text, byte-stable: equal documents give equal texts, whatever the order in which their fields came to
 * be. Fields this version does not know are kept, after the known ones.
 */
import { type ActiveState, newDocument, type StateDocument } from "./document.js";
import { historyText } from "./history.js";
import { withUnknown } from "./unknown-fields.js";

export function serialiseDocument(document: StateDocument): string {
  const before = JSON.stringify(beforeHistory(document));
  const behind = JSON.stringify(withUnknown(behindHistory(document), document, KNOWN));
  const upTo = `${before.slice(0, -1)},"History":${historyText(document.History)}`;
  return behind === "{}" ? `${upTo}}` : `${upTo},${behind.slice(1)}`;
}

// JSON.stringify leaves out what is undefined: exactly the additive fields that are absent.
function beforeHistory(document: StateDocument) {
  const { ActiveExecution } = document;
  return {
    Version: document.Version,
    Identity: document.Identity,
    LastHandledPeriodID: document.LastHandledPeriodID,
    LastOutcome: document.LastOutcome,
    LastChosenTime: document.LastChosenTime,
    LastNominalTime: document.LastNominalTime,
    ActiveExecution: ActiveExecution === null ? undefined : activeInOrder(ActiveExecution),
  };
}

function behindHistory(document: StateDocument) {
  const { OtherActive, LastSlot } = document;
  return {
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
    StartFailure: document.StartFailure,
    Tally: document.Tally,
  };
}

const EMPTY = newDocument("");
const KNOWN: Record<keyof StateDocument, unknown> = { ...beforeHistory(EMPTY), History: null, ...behindHistory(EMPTY) };

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
    ClampedBy: active.ClampedBy,
    ClampedFrom: active.ClampedFrom,
  };
  return withUnknown(ordered, active);
}

function sorted(slots: Readonly<Record<string, string>>): object {
  return Object.fromEntries(Object.entries(slots).sort(([one], [other]) => (one < other ? -1 : 1)));
}
