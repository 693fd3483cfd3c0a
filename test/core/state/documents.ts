/** Documents for tests: an empty one, and one in which every field is in use. */
import type { HistoryEntry, StateDocument } from "../../../src/core/state/document.js";
import { stateFileName } from "../../../src/core/state/file-name.js";
import { IDENTITY } from "../../support/scheduling.js";

export const NAME = stateFileName(IDENTITY);

export const HISTORY_ENTRY: HistoryEntry = {
  PeriodID: "2026-02-28T00:00:00Z",
  Outcome: "executed",
  NominalTime: "2026-02-28T00:00:00Z",
  ChosenTime: "2026-02-28T02:00:00Z",
  CompletedAt: "2026-02-28T02:10:00Z",
  ExitCode: 0,
};

export const FULL: StateDocument = {
  Version: "1",
  Identity: IDENTITY,
  LastHandledPeriodID: "2026-03-01T00:00:00Z",
  LastOutcome: "executed",
  LastChosenTime: "2026-03-01T02:32:20Z",
  LastNominalTime: "2026-03-01T00:00:00Z",
  ActiveExecution: {
    PeriodID: "2026-03-01T00:00:00Z",
    PID: 4711,
    StartedAt: "2026-03-01T02:32:20Z",
    ChosenTime: "2026-03-01T02:32:20Z",
    PIDStartTicks: 123456789,
    BootID: "b7a1",
    AttemptID: "a-1",
    Confirmed: true,
  },
  History: [
    HISTORY_ENTRY,
    {
      ...HISTORY_ENTRY,
      ExitCode: null,
      Reason: "exit_unseen",
      StartedAt: "2026-02-28T02:00:00Z",
      Signal: "SIGKILL",
      Source: "manual",
    },
  ],
  OtherActive: [
    {
      PeriodID: "2026-02-28T12:00:00.250Z",
      PID: 17,
      StartedAt: "2026-02-28T12:00:01Z",
      ChosenTime: "2026-02-28T12:00:00.250Z",
      Source: "manual",
    },
  ],
  LastSlot: { hint: "2026-02-28T11:00:00Z", manual: "2026-02-28T12:00:00.250Z" },
  LastReason: "state_recovered",
  DefinedAt: "2026-01-01T00:00:00Z",
  DefinitionHash: "abc",
  CarriedPeriodID: "2026-01-01T00:00:00Z",
  Pause: { Until: "2026-04-01T00:00:00Z", Reason: "maintenance", By: "k_1" },
  RemovedAt: "2026-03-02T00:00:00Z",
};
