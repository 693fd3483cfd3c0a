/** What the inspector's page makes of frames: those of a real life of a job, and those of a file that may hold anything. */
import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Said } from "../../../src/krond/inspect/frames.js";
import { presentFrames } from "../../../src/krond/inspect/life.js";
import { differences, hasDifferences } from "../../../web/src/inspector/differences.js";
import { type Told, toldIn } from "../../../web/src/inspector/frames.js";
import { brief, ownName, stateText } from "../../../web/src/inspector/names.js";
import { RECORDING_LIMITS, Recording } from "../../../web/src/inspector/recording.js";
import { OTHERS, SEQUENCE_LIMITS, sequenceOf } from "../../../web/src/inspector/sequence.js";
import { exported, imported } from "../../../web/src/inspector/transfer.js";
import { TREE_LIMITS, treeOf } from "../../../web/src/inspector/tree.js";
import { goneSince, WORLD_LIMITS } from "../../../web/src/inspector/world.js";
import { story } from "../../krond/inspect/story.js";
import { IDENTITY } from "../../support/scheduling.js";

const T10 = "2026-03-01T10:00:00Z";
const P10 = `${IDENTITY}@${T10}`;

function toldBy(said: readonly Said[]): readonly Told[] {
  return said.map(({ frame }) => {
    const told = toldIn(JSON.parse(JSON.stringify(frame)));
    if (typeof told === "string") throw new Error(told);
    return told;
  });
}

/** One period from planned to its end, as the daemon would tell it. */
function life(): readonly Told[] {
  const { job, told } = story({ document: { LastHandledPeriodID: "2026-03-01T09:00:00Z" } });
  const born = presentFrames({ identity: IDENTITY, definition: null, activation: job.activation }, 0);
  job.wake("2026-03-01T09:30:00Z");
  job.wake(T10);
  job.ready(T10, "a1");
  job.durable(T10, "a1");
  job.tell(T10, { type: "STARTED", attemptId: "a1" });
  job.exited("2026-03-01T10:00:09Z", "a1", 3);
  return toldBy([...born, ...told()]);
}

function recordingOf(frames: readonly Told[]): Recording {
  const recording = new Recording();
  for (const told of frames) recording.append(told, JSON.stringify(told).length);
  return recording;
}

function event(sessionId: string, type: string, sourceId = "supervisor", at = 0): Told {
  return { type: "@xstate.event", sessionId, sourceId, event: { type }, createdAt: String(at) };
}

function born(sessionId: string, parentId: string | null, status = "active"): Told {
  const parent = parentId === null ? {} : { parentId };
  return { type: "@xstate.actor", sessionId, ...parent, snapshot: { status, value: "on" }, createdAt: "0" };
}

describe("a frame from anywhere", () => {
  const good = { type: "@xstate.event", sessionId: "a", createdAt: "1", event: { type: "X" } };
  test.each([
    [null, "this is no object"],
    [[], "this is no object"],
    [{ ...good, sessionId: 1 }, "sessionId: it names no actor"],
    [{ ...good, sessionId: "" }, "sessionId: it names no actor"],
    [{ ...good, sessionId: "x".repeat(2_001) }, "sessionId: longer than 2000 characters"],
    [{ ...good, createdAt: "now" }, "createdAt: it is no time in milliseconds"],
    [{ ...good, event: {} }, "event: it has no type"],
    [{ ...good, event: "X" }, "event: it has no type"],
    [{ ...good, sourceId: 7 }, "sourceId: it is no text"],
    [{ ...good, type: "event" }, "type: it is none of @xstate.actor, @xstate.event and @xstate.snapshot"],
    [{ ...good, type: "@xstate.snapshot" }, "snapshot: it is no object"],
    [{ ...good, type: "@xstate.snapshot", snapshot: {}, event: 1 }, "event: it has no type"],
    [{ ...good, type: "@xstate.actor", snapshot: 1 }, "snapshot: it is no object"],
  ])("%j is refused", (value, why) => {
    expect(toldIn(value)).toBe(why);
  });

  test("what others write null for is left out", () => {
    expect(toldIn({ ...good, sourceId: null, createdAt: 1 })).toEqual({ ...good });
  });
});

describe("the actors", () => {
  test("a life leaves the tree of job, period and execution, each with what it was before", () => {
    const { tip } = recordingOf(life());
    const { rows } = treeOf(tip, { text: "", hidden: new Set(), hidesResting: false, called: (name: string) => name });
    expect(
      rows.map(({ actor, depth }) => [depth, actor.sessionId, actor.kind, stateText(actor.now?.snapshot.value)]),
    ).toEqual([
      [0, IDENTITY, "job", "enabled · planned · idle"],
      [1, P10, "period", "terminal › executed › completed"],
      [2, "a1", "execution", "ended › recorded"],
      [1, `${IDENTITY}@2026-03-01T11:00:00Z`, "period", "planned"],
    ]);
    const execution = tip.actors.get("a1");
    expect(execution?.before?.snapshot.value).toEqual({ running: "confirmed" });
    expect(execution?.now?.event?.type).toBe("EXITED");
  });

  test("at every earlier frame they are what they would be had nothing more been heard", () => {
    const frames = life();
    const whole = recordingOf(frames);
    for (let number = 0; number < frames.length; number += 1) {
      const alone = recordingOf(frames.slice(0, number + 1)).tip;
      expect([...whole.worldAfter(number).actors.values()]).toEqual([...alone.actors.values()]);
    }
  });

  test("rows: names that are looked for with those around them, kinds that are hidden, jobs that rest, and no more than fit", () => {
    const { tip } = recordingOf(life());
    const wish = { text: "", hidden: new Set<string>(), hidesResting: false, called: (name: string) => name };
    const names = (more: Partial<typeof wish>): readonly string[] =>
      treeOf(tip, { ...wish, ...more }).rows.map(({ actor }) => actor.sessionId);
    expect(names({ text: "a1" })).toEqual([IDENTITY, P10, "a1"]);
    expect(names({ hidden: new Set(["period"]) })).toEqual([IDENTITY, "a1"]);
    expect(names({ text: "nothing" })).toEqual([]);
    const many = recordingOf(Array.from({ length: TREE_LIMITS.rows + 7 }, (_, nth) => born(`job/${nth}`, null)));
    expect(treeOf(many.tip, wish)).toMatchObject({ leftOut: 7, rows: { length: TREE_LIMITS.rows } });
  });

  test("after a break, runs and periods that are not there any more have ended, and nobody else has", () => {
    const recording = recordingOf(life().slice(0, -4));
    const { tip } = recording;
    expect(tip.actors.get("a1")?.now?.snapshot.value).toEqual({ running: "confirmed" });
    const since = recording.end;
    const listed = life().find(({ sessionId }) => sessionId === P10);
    if (listed === undefined) throw new Error("nothing is told of that period");
    recording.append(listed, 1);
    const gone = goneSince(tip, since, "7");
    expect(gone.map(({ sessionId }) => sessionId)).toEqual(["a1", `${IDENTITY}@2026-03-01T11:00:00Z`]);
    for (const told of gone) recording.append(told, 1);
    expect(recording.tip.actors.get("a1")?.now).toMatchObject({
      event: { type: "NOT_THERE_ANY_MORE" },
      snapshot: { status: "stopped", value: { running: "confirmed" } },
    });
    expect(goneSince(recording.tip, since, "8")).toEqual([]);
    expect(goneSince(tip, 0, "8")).toEqual([]);
  });

  test("those that ended long ago are let go of, and counted", () => {
    const frames = Array.from({ length: WORLD_LIMITS.ended + 5 }, (_, nth) => born(`p/${nth}`, null, "done"));
    const { tip } = recordingOf([born("job", null), ...frames]);
    expect([tip.actors.size, tip.forgotten]).toEqual([WORLD_LIMITS.ended + 1, 5]);
    expect(tip.actors.has("job")).toBe(true);
  });
});

describe("moments", () => {
  test("an event and what became of it are one, and so are actors that are found together", () => {
    const { moments } = recordingOf([born("supervisor", null), born("launcher", "supervisor"), ...life()]);
    const all = Array.from({ length: moments.end }, (_, at) => moments.at(at));
    expect(all.map((moment) => [moment?.event, moment?.sessionId, (moment?.end ?? 0) - (moment?.first ?? 0)])).toEqual([
      [null, "supervisor", 3],
      ["WAKE", IDENTITY, 3],
      ["WAKE", IDENTITY, 4],
      ["READY", "a1", 4],
      ["DURABLE", "a1", 3],
      ["STARTED", "a1", 3],
      ["EXITED", "a1", 4],
    ]);
    expect(all[2]?.born).toEqual([["a1", P10]]);
    for (let frame = 0; frame < (all.at(-1)?.end ?? 0); frame += 1) {
      const moment = moments.at(moments.of(frame));
      expect(moment !== undefined && moment.first <= frame && frame < moment.end).toBe(true);
    }
  });

  test("the same event of another job is another moment; rest is one of its own", () => {
    const rest = (sessionId: string): Told => {
      return { type: "@xstate.snapshot", sessionId, event: { type: "REST" }, snapshot: {}, createdAt: "1" };
    };
    const { moments } = recordingOf([
      born("s", null),
      born("a", "s"),
      born("b", "s"),
      rest("a"),
      rest("b"),
      event("a", "WAKE"),
    ]);
    expect(moments.end).toBe(4);
  });
});

describe("a recording has an end", () => {
  test("by bytes and by number the oldest goes, and what it told of the actors stays", () => {
    const recording = new Recording();
    recording.append(born("supervisor", null), 10);
    recording.append(born("job", "supervisor"), 10);
    for (let nth = 0; nth < RECORDING_LIMITS.frames; nth += 1)
      recording.append(event("job", "E", "supervisor", nth), 10);
    expect(recording.end - recording.first).toBeLessThanOrEqual(RECORDING_LIMITS.frames);
    expect(recording.first).toBeGreaterThan(0);
    expect(recording.moments.at(recording.moments.first)?.first).toBeGreaterThanOrEqual(recording.first);
    expect([...recording.worldAfter(recording.first).actors.keys()]).toEqual(["supervisor", "job"]);
    for (let nth = 0; nth < 20; nth += 1) recording.append(event("job", "BIG"), RECORDING_LIMITS.bytes / 10);
    expect(recording.bytes).toBeLessThanOrEqual(RECORDING_LIMITS.bytes);
    expect(recording.end - recording.first).toBeLessThan(20);
  });

  test("while somebody looks at it nothing goes, and what does not fit is counted", () => {
    const recording = new Recording();
    recording.isHeld = true;
    for (let nth = 0; nth < RECORDING_LIMITS.frames + 9; nth += 1) recording.append(event("job", "E"), 1);
    expect([recording.first, recording.end, recording.leftOutHere]).toEqual([0, RECORDING_LIMITS.frames, 9]);
  });

  test("what the daemon left out is counted too", () => {
    const note: Told = {
      type: "@xstate.event",
      sessionId: "inspector",
      event: { type: "FRAMES_LEFT_OUT", frames: 12 },
      createdAt: "0",
    };
    expect(recordingOf([note, note]).leftOutThere).toBe(24);
  });
});

describe("the sequence", () => {
  const numbered = (recording: Recording) =>
    Array.from({ length: recording.moments.end }, (_, number) => {
      const moment = recording.moments.at(number);
      if (moment === undefined) throw new Error("no moment");
      return { number, moment };
    });

  test("who tells whom, and who makes whom; the daemon's own at the left", () => {
    const { lanes, arrows } = sequenceOf(numbered(recordingOf(life())));
    expect(lanes).toEqual(["supervisor", "launcher", IDENTITY, P10, "a1", `${IDENTITY}@2026-03-01T11:00:00Z`]);
    expect(arrows.map(({ from, to, label }) => `${lanes[from]} ${label} ${lanes[to]}`).slice(0, 5)).toEqual([
      `supervisor WAKE ${IDENTITY}`,
      `${IDENTITY} made ${P10}`,
      `supervisor WAKE ${IDENTITY}`,
      `${P10} made a1`,
      "launcher READY a1",
    ]);
  });

  test("more than there is room for share the last lane; only the newest arrows are drawn", () => {
    const frames = Array.from({ length: 200 }, (_, nth) => event(`job/${nth % 20}`, "E"));
    const { lanes, arrows } = sequenceOf(numbered(recordingOf(frames)));
    expect([lanes.length, lanes.at(-1), arrows.length]).toEqual([
      SEQUENCE_LIMITS.lanes,
      OTHERS,
      SEQUENCE_LIMITS.arrows,
    ]);
    expect(arrows.every(({ from, to }) => from < lanes.length && to < lanes.length)).toBe(true);
    expect(arrows.at(-1)?.moment).toBe(199);
  });
});

describe("a file", () => {
  test("what is written can be read, and is the same recording", () => {
    const recording = recordingOf([born("supervisor", null), ...life()]);
    const lines = imported(exported(recording));
    if (typeof lines === "string") throw new Error(lines);
    const again = recordingOf(lines.map(({ told }) => told));
    expect([...again.tip.actors.values()]).toEqual([...recording.tip.actors.values()]);
    expect(exported(again)).toBe(exported(recording));
  });

  test("of one that has let go of its beginning, the actors come first, with their charts", () => {
    const recording = recordingOf(life());
    for (let nth = 0; nth < RECORDING_LIMITS.frames; nth += 1) recording.append(event(IDENTITY, "E"), 10);
    const lines = imported(exported(recording));
    if (typeof lines === "string") throw new Error(lines);
    const again = recordingOf(lines.map(({ told }) => told));
    expect([...again.tip.charts.keys()].sort()).toEqual(["execution", "job", "period"]);
    const shape = ({ tip }: Recording) =>
      [...tip.actors.values()].map(({ sessionId, parentId, kind, now }) => [sessionId, parentId, kind, now?.snapshot]);
    expect(shape(again).sort()).toEqual(shape(recording).sort());
  });

  test.each([
    ["", "there is no frame in it"],
    ["\n\n", "there is no frame in it"],
    ["{}", "line 1: sessionId: it names no actor"],
    [`${JSON.stringify(event("a", "X"))}\nnonsense`, "line 2: this is no object"],
  ])("%j is refused, and nothing of it is taken", (text, why) => {
    expect(imported(text)).toBe(why);
  });

  test("what others record is read: null where there is nothing, numbers for times", () => {
    const line =
      '{"type":"@xstate.actor","sessionId":"x:0","name":"x","parentId":null,"createdAt":"1","definition":"{\\"id\\":\\"m\\",\\"states\\":{\\"a\\":{}}}"}';
    expect(imported(line)).toMatchObject([{ told: { sessionId: "x:0" } }]);
  });
});

describe("differences", () => {
  const marked = (before: unknown, after: unknown): readonly string[] =>
    differences({ value: before }, after)
      .filter(({ mark }) => mark !== "same")
      .map(({ mark, text }) => `${mark === "added" ? "+" : "-"} ${text}`);

  test.each([
    [{ a: 1, b: 2 }, { a: 1, b: 3 }, ['- "b": 2', '+ "b": 3']],
    [{ a: 1 }, { a: 1, b: { c: 1 } }, ['+ "b": {', '+ "c": 1', "+ }"]],
    [{ a: 1, b: 2 }, { a: 1 }, ['- "b": 2']],
    [{ a: { b: [1, 2] } }, { a: { b: [1, 2] } }, []],
    [
      [1, 2, 3],
      [2, 3, 4],
      ["- 1,", "+ 4"],
    ],
    [[{ n: 1 }], [{ n: 2 }], ['- "n": 1', '+ "n": 2']],
    [null, { a: 1 }, ["- null", "+ {", '+ "a": 1', "+ }"]],
    ["x", "x", []],
    [{}, {}, []],
  ])("%j, %j", (before, after, lines) => {
    expect(marked(before, after)).toEqual(lines);
  });

  test("without an earlier value nothing is marked", () => {
    expect(hasDifferences(differences(null, { a: [1] }))).toBe(false);
  });

  test("what is not removed is the later value, what is not added the earlier one", () => {
    const plain = (value: unknown): readonly string[] => texts(differences(null, value));
    const texts = (lines: readonly { readonly text: string }[]): readonly string[] =>
      // Of an object that was empty before, the brackets stand on lines of their own.
      lines
        .flatMap(({ text }) => text.replace(/,$/, "").split(/(?<=[{[])(?=[}\]]$)/))
        .map((text) => text.replace(/^"[^"]*": (?=[{[]$)/, ""))
        .sort();
    const json = fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.parse(JSON.stringify(value)) as unknown);
    fc.assert(
      fc.property(json, json, (before, after) => {
        const lines = differences({ value: before }, after);
        expect(texts(lines.filter(({ mark }) => mark !== "removed"))).toEqual(plain(after));
        expect(texts(lines.filter(({ mark }) => mark !== "added"))).toEqual(plain(before));
        expect(hasDifferences(lines)).toBe(!isDeepStrictEqual(before, after));
      }),
    );
  });
});

test.each([
  ["short", 10, "short"],
  ["tenant-00/service-0/job-000000", 20, "tenant-…0/job-000000"],
])("the name %s in %d characters", (name, most, shown) => {
  expect(brief(name, most)).toBe(shown);
  expect(brief(name, most).length).toBeLessThanOrEqual(most);
});

test("of a period its job's name is left out", () => {
  expect([ownName(P10, IDENTITY), ownName("a1", IDENTITY), ownName(IDENTITY, IDENTITY)]).toEqual([
    `@${T10}`,
    "a1",
    IDENTITY,
  ]);
});
