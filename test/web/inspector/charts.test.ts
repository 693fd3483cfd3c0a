import * as fs from "node:fs";
import * as path from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type AnyStateMachine, createActor, createMachine, type InspectionEvent } from "xstate";
import { layoutOf } from "../../../scripts/charts/layout.mjs";
import { layoutText } from "../../../scripts/charts/text.mjs";
import { executionMachine } from "../../../src/machines/execution.machine.js";
import { jobMachine } from "../../../src/machines/job.machine.js";
import { membershipMachine } from "../../../src/machines/membership.machine.js";
import { periodMachine } from "../../../src/machines/period.machine.js";
import { pollingMachine } from "../../../src/machines/polling.machine.js";
import { schedulerMachine } from "../../../src/machines/scheduler.machine.js";
import { shardMachine } from "../../../src/machines/shard.machine.js";
import { supervisorMachine } from "../../../src/machines/supervisor.machine.js";
import { taskMachine } from "../../../src/machines/task.machine.js";
import {
  type ChartLayout,
  hashOf,
  type KeptLayout,
  pathData,
  pathsOf,
  unpacked,
} from "../../../web/src/inspector/chart-layout.js";
import { eventOf, takenOf } from "../../../web/src/inspector/chart-taken.js";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const MACHINES: readonly (readonly [string, AnyStateMachine])[] = [
  ["supervisor", supervisorMachine],
  ["job", jobMachine],
  ["period", periodMachine],
  ["execution", executionMachine],
  ["task", taskMachine],
  ["scheduler", schedulerMachine],
  ["polling", pollingMachine],
  ["shard", shardMachine],
  ["membership", membershipMachine],
];

function drawn(id: string): string {
  return fs.readFileSync(path.join(ROOT, `web/src/charts/${id}.json`), "utf8");
}

function layout(id: string): ChartLayout {
  return unpacked(JSON.parse(drawn(id)) as KeptLayout);
}

interface Arrow {
  readonly from: string;
  readonly to: string;
  readonly label: string;
}

/** What of a transition can be read from the drawing, in words. */
function words({ from, to, label }: Arrow): string {
  return `${from || "*"} -> ${to || "*"} ${label}`.trim();
}

function labelOf(event: string, guard: unknown): string {
  const name = guard === undefined || guard === null ? "" : `[${guardName(guard)}]`;
  return [event, name].filter((part) => part !== "").join(" ");
}

function guardName(guard: unknown): string {
  if (typeof guard === "string") return guard;
  const { guards, type } = guard as { readonly guards?: readonly unknown[]; readonly type?: string };
  return guards === undefined ? (type ?? "?") : guards.map(guardName).join(" & ");
}

interface NodeLike {
  readonly path: readonly string[];
  readonly transitions: ReadonlyMap<string, readonly TransitionLike[]>;
  readonly always?: readonly TransitionLike[];
  readonly states: Readonly<Record<string, NodeLike>>;
}

interface TransitionLike {
  readonly source: NodeLike;
  readonly target: readonly NodeLike[] | undefined;
  readonly eventType: string;
  readonly guard?: unknown;
}

function arrowsIn(node: NodeLike): readonly Arrow[] {
  const own = [...node.transitions].flatMap(([event, list]) => list.map((transition) => ({ event, transition })));
  const always = (node.always ?? []).map((transition) => ({ event: "", transition }));
  const mine = [...own, ...always].map(({ event, transition: { target, guard } }) => ({
    from: node.path.join("."),
    to: (target?.[0] ?? node).path.join("."),
    label: labelOf(event, guard),
  }));
  return [...mine, ...Object.values(node.states).flatMap(arrowsIn)];
}

function arrowsOn({ nodes, edges, marks }: ChartLayout): readonly Arrow[] {
  const lines = edges.flatMap(([from, to, labels]) => {
    return (labels.length === 0 ? [""] : labels).map((label) => ({ from, to, label }));
  });
  const rows = marks.flatMap(([box, , , labels, sources]) => {
    const to = nodes[box]?.[0] ?? "";
    return (sources ?? [to]).flatMap((from) => labels.map((label) => ({ from, to, label })));
  });
  return [...lines, ...rows];
}

describe("the drawings of the charts", () => {
  test("there is one for every machine, and none for what is no machine", () => {
    const files = fs.readdirSync(path.join(ROOT, "src/machines")).filter((name) => name.endsWith(".machine.ts"));
    const names = fs.readdirSync(path.join(ROOT, "web/src/charts"));
    expect(names.sort()).toEqual(files.map((name) => name.replace(".machine.ts", ".json")).sort());
    expect(MACHINES.map(([id]) => `${id}.json`).sort()).toEqual(names.sort());
  });

  test.each(MACHINES)(
    "%s: drawn again it is the same, to the letter; else run scripts/chart-layouts.mjs",
    async (id, machine) => {
      const hash = hashOf(JSON.stringify(machine.config));
      expect(layoutText({ hash, ...(await layoutOf(machine)) })).toBe(drawn(id));
    },
  );

  test("a transition that is missing in the drawing would be noticed", async () => {
    const { states, ...config } = taskMachine.config;
    const less = { ...config, states: { ...states, Running: {} } } as unknown as (typeof taskMachine)["config"];
    const other = createMachine(less as never);
    expect(layoutText({ hash: hashOf(JSON.stringify(other.config)), ...(await layoutOf(other)) })).not.toBe(
      drawn("task"),
    );
  });

  test.each(MACHINES)("%s: says every transition of the chart, and no other", (id, machine) => {
    const said = arrowsOn(layout(id)).map(words).sort();
    const meant = arrowsIn(machine.root as unknown as NodeLike).map(words);
    expect(said).toEqual([...new Set(meant)].sort());
  });

  test.each(MACHINES)("%s: no box covers another but those it is inside, and every row has room", (id) => {
    const { nodes, size } = layout(id);
    for (const [a, , , x, y, width, height, rows] of nodes) {
      expect(x + width <= (size[0] ?? 0) && y + height <= (size[1] ?? 0), a).toBe(true);
      expect(Math.max(0, ...rows.map((row) => row.length * 6.1)), a).toBeLessThanOrEqual(width - 18);
      for (const [b, , , bx, by, bWidth, bHeight] of nodes) {
        if (a === b || a === "" || b === "" || a.startsWith(`${b}.`) || b.startsWith(`${a}.`)) continue;
        const isApart = x + width <= bx || bx + bWidth <= x || y + height <= by || by + bHeight <= y;
        expect(isApart, `${a} and ${b}`).toBe(true);
      }
    }
  });
});

describe("active states", () => {
  test.each([
    ["running", ["", "running"]],
    [{ running: "confirmed" }, ["", "running", "running.confirmed"]],
    [{ record: {}, period: "none" }, ["", "record", "period", "period.none"]],
    [undefined, [""]],
    [null, [""]],
  ])("%j", (value, paths) => {
    expect([...pathsOf(value)]).toEqual(paths);
  });
});

/** What a walk of XState through the chart has really taken at each event. */
interface Walked {
  readonly event: string;
  readonly was: unknown;
  readonly is: unknown;
  readonly arrows: readonly Arrow[];
}

/** The chart without what it does: states, events and guards are what a walk is about. */
function withoutActions(config: object): object {
  const entries = Object.entries(config).filter(([key]) => !["actions", "entry", "context"].includes(key));
  return Object.fromEntries(entries.map(([key, value]) => [key, key === "guard" ? value : bare(value)]));
}

function bare(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(bare);
  return typeof value === "object" && value !== null ? withoutActions(value) : value;
}

/** At each event one guard says yes and all others no: every way through a chart is open to somebody. */
function walk(machine: AnyStateMachine, picks: readonly (readonly [number, number])[]): readonly Walked[] {
  let trueGuard = "";
  const names = Object.keys(machine.implementations.guards);
  const guards = Object.fromEntries(names.map((name) => [name, () => name === trueGuard]));
  const microsteps: TransitionLike[] = [];
  const inspect = (seen: InspectionEvent): void => {
    if (seen.type === "@xstate.microstep") microsteps.push(...(seen._transitions as unknown as TransitionLike[]));
  };
  const actor = createActor(createMachine(withoutActions(machine.config), { guards }), { inspect });
  actor.start();
  const labels = arrowsIn(machine.root as unknown as NodeLike).map(({ label }) => eventOf(label));
  const events = [...new Set(labels)].filter((name) => name !== "");
  return picks.flatMap(([eventAt, guardAt]) => {
    if (actor.getSnapshot().status !== "active") return [];
    const event = events[eventAt % events.length] ?? "";
    trueGuard = names[guardAt % Math.max(1, names.length)] ?? "";
    microsteps.length = 0;
    const was = actor.getSnapshot().value;
    actor.send({ type: event });
    const arrows = microsteps.map(({ source, target, eventType, guard }) => ({
      from: source.path.join("."),
      to: (target?.[0] ?? source).path.join("."),
      label: labelOf(eventType, guard),
    }));
    return [{ event, was, is: actor.getSnapshot().value, arrows }];
  });
}

function lit(chart: ChartLayout, { was, is, event, arrows }: Walked): readonly string[] {
  // What a chart knows is changed by its actions alone, here those of rows.
  const hasChanged = arrows.some(({ from, to }) => from === to);
  const seen = { was: pathsOf(was), is: pathsOf(is), event, hasChanged };
  const taken = takenOf(chart, seen);
  const lines = [...taken.lines].flatMap(([index, labels]) => {
    const [from = "", to = ""] = chart.edges[index] ?? [];
    return labels.map((label) => words({ from, to, label }));
  });
  const rows = [...taken.marks].flatMap((index) => {
    const [box = 0, , , labels = [], sources = null] = chart.marks[index] ?? [];
    const to = chart.nodes[box]?.[0] ?? "";
    const froms = sources?.filter((from) => pathsOf(was).has(from)) ?? [to];
    return froms.flatMap((from) =>
      labels.filter((it) => sources !== null || eventOf(it) === event).map((label) => words({ from, to, label })),
    );
  });
  return [...lines, ...rows].sort();
}

describe("the transition that is lit", () => {
  const walked = MACHINES.filter(([id]) => id !== "task");
  test.each(walked)("%s: whatever XState takes on a walk through the chart, and nothing else", (id, machine) => {
    const chart = layout(id);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.nat(40), fc.nat(10)), { maxLength: 40 }), (picks) => {
        for (const step of walk(machine, picks)) {
          const context = `${JSON.stringify(step.was)} ${step.event} ${JSON.stringify(step.is)}`;
          expect(lit(chart, step), context).toEqual([...new Set(step.arrows.map(words))].sort());
        }
      }),
      { numRuns: 60 },
    );
  });

  test.each([
    [
      "period",
      "planned",
      { eligible: "starting" },
      ["planned -> eligible JUDGED [isEligible]", "eligible.judging -> eligible.starting [isStart]"],
    ],
    [
      "period",
      { eligible: "starting" },
      { terminal: { executed: "running" } },
      ["eligible.starting -> terminal.executed CLAIMED"],
    ],
    [
      "job",
      { standing: "enabled", record: {}, period: "planned", runs: "idle" },
      { standing: "paused", record: {}, period: "eligible", runs: "idle" },
      ["period.planned -> period.eligible DUE", "standing.enabled -> standing.paused [isHeldByPause]"],
    ],
    ["period", "planned", "planned", []],
  ])("%s: a step that the machine knows by other names is lit by the shortest way, %j to %j", (id, was, is, said) => {
    const chart = layout(id);
    const step = { event: "WAKE", was, is, arrows: [] };
    expect(lit(chart, step)).toEqual([...said].sort());
  });

  test("a line goes round its corners", () => {
    expect(pathData([0, 0, 0, 20, 30, 20])).toBe("M0 0L0 14Q0 20 6 20L30 20");
    expect(pathData([0, 0, 0, 20])).toBe("M0 0L0 20");
  });
});
