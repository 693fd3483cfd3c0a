/** What an inspector is told of a scheduler, and that it is told of it and nothing more. */
import { afterEach, expect, test } from "vitest";
import { createScheduler, type InspectionFrame, memoryStore, type Registration } from "../../src/scheduler/index.js";
import { pathsOf } from "../../web/src/inspector/chart-layout.js";
import { takenOf } from "../../web/src/inspector/chart-taken.js";
import { toldIn } from "../../web/src/inspector/frames.js";
import { layoutOf, loadLayouts } from "../../web/src/inspector/layouts.js";
import { Recording } from "../../web/src/inspector/recording.js";
import { exported, imported } from "../../web/src/inspector/transfer.js";
import { at, settle, silentLogger, VirtualHost } from "./support.js";

const started: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const scheduler of started.splice(0)) await scheduler.stop();
});

interface Watched {
  readonly host: VirtualHost;
  readonly frames: InspectionFrame[];
  /** `name <- EVENT`, `name = state`, `+ name`. */
  words(): readonly string[];
  stop(): Promise<void>;
}

async function watched(
  tasks: readonly Registration[],
  inspect?: (frame: InspectionFrame) => unknown,
): Promise<Watched> {
  const host = new VirtualHost(at("2026-01-05T02:59:30Z"));
  const frames: InspectionFrame[] = [];
  const scheduler = createScheduler({
    clock: host.clock,
    sleeper: host.sleeper,
    store: memoryStore(),
    logger: silentLogger,
    newId: () => "s1",
    inspect: (frame) => {
      frames.push(frame);
      return inspect?.(frame);
    },
  });
  started.push(scheduler);
  await scheduler.initialize(tasks);
  await settle();
  let from = 0;
  const words = (): readonly string[] => {
    const told = frames.slice(from).map(wordsOf);
    from = frames.length;
    return told;
  };
  return { host, frames, words, stop: () => scheduler.stop() };
}

function wordsOf(frame: InspectionFrame): string {
  switch (frame.type) {
    case "@xstate.actor":
      return `+ ${frame.sessionId} = ${String(frame.snapshot.value)} < ${frame.parentId ?? ""}`;
    case "@xstate.event":
      return `${frame.sessionId} <- ${frame.event.type}`;
    case "@xstate.snapshot":
      return `${frame.sessionId} = ${String(frame.snapshot.value)}`;
  }
}

async function advance({ host }: Watched, to: string): Promise<void> {
  await host.advanceTo(at(to));
  await settle();
}

function recordingOf(frames: readonly InspectionFrame[]): Recording {
  const recording = new Recording();
  for (const frame of frames) {
    const told = toldIn(JSON.parse(JSON.stringify(frame)));
    if (typeof told === "string") throw new Error(told);
    recording.append(told, 1);
  }
  return recording;
}

test("the life of a scheduler: its own chart, its polling, and a task that fails, is tried again and succeeds", async () => {
  let attempts = 0;
  const backup = async (): Promise<void> => {
    attempts += 1;
    if (attempts === 1) throw new TypeError("secret words");
  };
  const it = await watched([["backup", "0 3 * * *", backup, "PT1M"]]);
  expect(it.words()).toEqual([
    "+ scheduler = Uninitialized < ",
    "scheduler <- INITIALIZE",
    "scheduler = Initializing",
    "+ backup = AwaitingRun < scheduler",
    "scheduler <- INITIALIZED",
    "scheduler = Running",
    "+ polling = Inactive < scheduler",
    "polling <- SCHEDULED",
    "polling = Active",
  ]);
  await advance(it, "2026-01-05T03:00:00Z");
  expect(it.words()).toEqual(["backup <- POLL", "backup = Running", "backup <- FAILED", "backup = AwaitingRetry"]);
  await advance(it, "2026-01-05T03:01:00Z");
  expect(it.words()).toEqual(["backup <- POLL", "backup = Running", "backup <- SUCCEEDED", "backup = AwaitingRun"]);
  await it.stop();
  expect(it.words()).toEqual([
    "scheduler <- STOP",
    "scheduler = Stopping",
    "polling <- STOP_REQUESTED",
    "polling = Stopping",
    "polling <- DRAINED",
    "polling = Inactive",
    "scheduler <- DRAINED",
    "scheduler = Stopped",
  ]);
  expect(it.frames.find((frame) => "event" in frame && frame.event.type === "FAILED")).toMatchObject({
    event: { type: "FAILED", error: "TypeError" },
    createdAt: String(at("2026-01-05T03:00:00Z")),
  });
  expect(JSON.stringify(it.frames)).not.toContain("secret words");
});

test("an occurrence that takes the place of a retry is two steps, and each is lit as what it was", async () => {
  const it = await watched([["often", "* * * * *", () => Promise.reject(new Error("no")), "PT10M"]]);
  await advance(it, "2026-01-05T03:00:00Z");
  it.words();
  await advance(it, "2026-01-05T03:01:00Z");
  expect(it.words().slice(0, 3)).toEqual(["often <- POLL", "often = AwaitingRun", "often = Running"]);
  const recording = recordingOf(it.frames);
  await loadLayouts();
  const chart = layoutOf("task", recording.tip.charts.get("task"));
  if (chart == null) throw new Error("the drawing is of another version");
  const states = it.frames.flatMap((frame) => (frame.sessionId === "often" && "snapshot" in frame ? [frame] : []));
  const lit = states.slice(-4).flatMap((frame, index, all) => {
    const [before, event] = [all[index - 1], frame.type === "@xstate.snapshot" ? frame.event.type : ""];
    if (before === undefined) return [];
    const seen = { was: pathsOf(before.snapshot.value), is: pathsOf(frame.snapshot.value), event, hasChanged: true };
    return [...takenOf(chart, seen).lines].map(([line, labels]) => `${chart.edges[line]?.[0]} ${labels.join()}`);
  });
  expect(lit).toEqual(["AwaitingRetry POLL [isRunOwed]", "AwaitingRun POLL [isRunOwed]", "Running FAILED"]);
});

test("the page opens what was recorded: every chart is one of those that are drawn, and a file says the same", async () => {
  const it = await watched([
    ["one", "* * * * *", async () => {}, "PT1M"],
    ["two", "0 3 * * *", async () => {}, "PT1M"],
    ["scheduler", "0 4 * * *", async () => {}, "PT1M"],
  ]);
  await advance(it, "2026-01-05T03:00:00Z");
  const recording = recordingOf(it.frames);
  await loadLayouts();
  for (const kind of ["scheduler", "polling", "task"]) {
    expect(layoutOf(kind, recording.tip.charts.get(kind))?.id).toBe(kind);
  }
  const kinds = [...recording.tip.actors.values()].map(({ sessionId, kind, parentId }) => [sessionId, kind, parentId]);
  expect(kinds).toEqual([
    ["scheduler", "scheduler", null],
    ["one", "task", "scheduler"],
    ["task:scheduler", "task", "scheduler"],
    ["two", "task", "scheduler"],
    ["polling", "polling", "scheduler"],
  ]);
  expect(recording.tip.actors.get("two")?.now?.snapshot.context).toMatchObject({
    lastAttemptAt: "2026-01-05T03:00:00.000Z",
  });
  const lines = imported(exported(recording));
  expect(typeof lines === "string" ? lines : lines.length).toBe(it.frames.length);
});

test("a chart is sent once; the others of its kind have its name", async () => {
  const it = await watched([
    ["a", "0 3 * * *", async () => {}, "PT1M"],
    ["b", "0 3 * * *", async () => {}, "PT1M"],
  ]);
  const charts = it.frames.flatMap((frame) => (frame.type === "@xstate.actor" ? [frame.definition ?? ""] : []));
  expect(charts.map((text) => [JSON.parse(text).id, text.includes("states")])).toEqual([
    ["scheduler", true],
    ["task", true],
    ["task", false],
    ["polling", true],
  ]);
});

test.each([
  [
    "throws",
    () => {
      throw new Error("my mistake");
    },
  ],
  ["rejects", () => Promise.reject(new Error("my mistake"))],
])("an inspector that %s disturbs nothing", async (_, inspect) => {
  let runs = 0;
  const it = await watched([["a", "0 3 * * *", async () => void runs++, "PT1M"]], inspect);
  await advance(it, "2026-01-05T03:00:00Z");
  expect(runs).toBe(1);
  expect(it.words().at(-1)).toBe("a = AwaitingRun");
});

test("one that stops the scheduler at a start keeps the callback from being called, and is told so", async () => {
  let runs = 0;
  let stopping: Promise<void> | null = null;
  const it = await watched([["a", "0 3 * * *", async () => void runs++, "PT1M"]], (frame) => {
    if ("event" in frame && frame.event.type === "POLL") stopping ??= it.stop();
  });
  it.words();
  await advance(it, "2026-01-05T03:00:00Z");
  await stopping;
  expect(runs).toBe(0);
  expect(it.words()).toEqual(expect.arrayContaining(["a <- WITHDRAWN", "a = AwaitingRun"]));
});

test("a list that is refused is a failed initialisation, told by the class of its error", async () => {
  const frames: InspectionFrame[] = [];
  const scheduler = createScheduler({
    store: memoryStore(),
    logger: silentLogger,
    inspect: (frame) => frames.push(frame),
  });
  await expect(scheduler.initialize([["", "* * * * *", async () => {}, 1]])).rejects.toThrow();
  expect(frames.map(wordsOf)).toEqual([
    "+ scheduler = Uninitialized < ",
    "scheduler <- INITIALIZE",
    "scheduler = Initializing",
    "scheduler <- INITIALIZATION_FAILED",
    "scheduler = Uninitialized",
  ]);
  expect(frames[3]).toMatchObject({ event: { error: "InvalidRegistrationError" } });
});
