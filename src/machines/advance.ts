/**
 * One event through one chart: the next snapshot, and the effects as data. Nothing is executed. Charts are compiled to
 * tables (`chart/`); what XState's pure `transition` makes of the same chart is what the table must say, and a test holds
 * the two against each other.
 */
import type {
  AnyStateMachine,
  ContextFrom,
  EventFromLogic,
  EventObject,
  InputFrom,
  SnapshotFrom,
  StateValue,
} from "xstate";
import type { Context } from "./chart/parts.js";
import { Macrostep } from "./chart/run.js";
import { ChartSnapshot } from "./chart/snapshot.js";
import { type Chart, type Configuration, compileChart } from "./chart/table.js";
import type { Effect } from "./effects.js";

interface Advance<Snapshot, E = Effect> {
  readonly snapshot: Snapshot;
  readonly effects: readonly E[];
}

const charts = new WeakMap<AnyStateMachine, Chart>();

/** Throws for a chart that uses what no table can hold: called where a chart is defined, so that it is found out at once. */
export function compiled<Machine extends AnyStateMachine>(machine: Machine): Machine {
  chartOf(machine);
  return machine;
}

export function advance<Machine extends AnyStateMachine, E = Effect>(
  machine: Machine,
  snapshot: SnapshotFrom<Machine>,
  event: EventFromLogic<Machine>,
): Advance<SnapshotFrom<Machine>, E> {
  const { context } = snapshot as { readonly context: Context };
  const from = configurationOf(machine, snapshot);
  const macrostep = new Macrostep(from, context, event as EventObject);
  macrostep.run();
  const { configuration, effects } = macrostep;
  const isSame = configuration === from && macrostep.context === context;
  const next = isSame ? snapshot : snapshotOf<Machine>(configuration, macrostep.context);
  return { snapshot: next, effects: effects as readonly E[] };
}

/** The first snapshot, with the effects of entering it. */
export function begin<Machine extends AnyStateMachine, E = Effect>(
  machine: Machine,
  ...[input]: undefined extends InputFrom<Machine> ? [input?: InputFrom<Machine>] : [input: InputFrom<Machine>]
): Advance<SnapshotFrom<Machine>, E> {
  const chart = chartOf(machine);
  const { context = {} } = machine.config as { readonly context?: Context | ((from: { input: unknown }) => Context) };
  const first = typeof context === "function" ? context({ input }) : context;
  const macrostep = new Macrostep(chart.initial.to, first, { type: "xstate.init", input } as EventObject);
  macrostep.begin(chart);
  const snapshot = snapshotOf<Machine>(macrostep.configuration, macrostep.context);
  return { snapshot, effects: macrostep.effects as readonly E[] };
}

/** The snapshot with this state and context. What is entered by default need not be said. */
export function resolve<Machine extends AnyStateMachine>(
  machine: Machine,
  state: { readonly value: StateValue; readonly context: ContextFrom<Machine> },
): SnapshotFrom<Machine> {
  return snapshotOf(chartOf(machine).configurationOf(state.value), state.context as Context);
}

function snapshotOf<Machine extends AnyStateMachine>(
  configuration: Configuration,
  context: Context,
): SnapshotFrom<Machine> {
  return new ChartSnapshot(configuration, context) as unknown as SnapshotFrom<Machine>;
}

/** Snapshots remember the chart they belong to; those that XState made belong to the one that is given. */
function configurationOf(machine: AnyStateMachine, snapshot: object): Configuration {
  const known = ChartSnapshot.configurationOf(snapshot);
  return known ?? chartOf(machine).configurationOf((snapshot as { readonly value: StateValue }).value);
}

function chartOf(machine: AnyStateMachine): Chart {
  const known = charts.get(machine);
  if (known !== undefined) return known;
  const chart = compileChart(machine);
  charts.set(machine, chart);
  return chart;
}
