/** The life of one job under the production step, as inspector clients would be told it, in words. */
import type { Frame, Said } from "../../../src/krond/inspect/frames.js";
import { steppedFrames } from "../../../src/krond/inspect/life.js";
import { step } from "../../../src/machines/step.js";
import { type Plot, Scenario } from "../../machines/scenario.js";
import { IDENTITY } from "../../support/scheduling.js";

export interface Story {
  readonly job: Scenario;
  /** What was told since it was asked last. */
  told(): readonly Said[];
  words(): readonly string[];
}

export function story(plot: Plot = {}): Story {
  const all: Said[] = [];
  const recording: typeof step = (scope, before, event, moment) => {
    const taken = step(scope, before, event, moment);
    const { activation: after, ended } = taken;
    all.push(...steppedFrames({ identity: IDENTITY, definition: null, event, before, after, ended }, moment.now));
    return taken;
  };
  const job = new Scenario({ ...plot, step: recording });
  const told = (): readonly Said[] => all.splice(0);
  return { job, told, words: () => told().map(({ kind, frame }) => `${kind} ${wordsOf(frame)}`) };
}

/** `+ name`: born; `name <- EVENT (source)`: told; `name = state`: what became of it. */
export function wordsOf(frame: Frame): string {
  const name = frame.sessionId;
  switch (frame.type) {
    case "@xstate.actor":
      return `+ ${name} = ${pathOf(frame.snapshot.value)} < ${frame.parentId ?? ""}`;
    case "@xstate.event":
      return `${name} <- ${frame.event.type} (${frame.sourceId ?? ""})`;
    case "@xstate.snapshot": {
      const { status, value } = frame.snapshot;
      return `${name} = ${pathOf(value)}${status === "active" ? "" : ` ${status}`}`;
    }
  }
}

function pathOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([key, inner]) =>
      typeof inner === "object" && Object.keys(inner ?? {}).length === 0 ? key : `${key}.${pathOf(inner)}`,
    )
    .join("+");
}
