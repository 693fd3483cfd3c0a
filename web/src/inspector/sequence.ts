/** Who told whom what, as lanes with arrows between them: pure. */
import type { Moment } from "./moments.js";

export interface Arrow {
  /** Index of a lane. */
  readonly from: number;
  readonly to: number;
  readonly label: string;
  /** Number of the moment. */
  readonly moment: number;
  /** A birth: who has made whom. */
  readonly isBirth: boolean;
}

export interface Sequence {
  /** Session of each lane; the last one may stand for all others. */
  readonly lanes: readonly string[];
  readonly arrows: readonly Arrow[];
}

export const SEQUENCE_LIMITS = {
  lanes: 6,
  arrows: 60,
} as const;

/** The lane of everybody who has none. */
export const OTHERS = "";

interface Numbered {
  readonly number: number;
  readonly moment: Moment;
}

interface Message {
  readonly from: string;
  readonly to: string;
  readonly label: string;
  readonly moment: number;
  readonly isBirth: boolean;
}

/** Of the last moments, the oldest first. */
export function sequenceOf(moments: readonly Numbered[]): Sequence {
  const messages = moments.flatMap(messagesOf).slice(-SEQUENCE_LIMITS.arrows);
  const named = [...new Set(messages.flatMap(({ from, to }) => [from, to]))];
  const { lanes: most } = SEQUENCE_LIMITS;
  const busiest = named.length <= most ? named : mostTold(named, messages).slice(0, most - 1);
  const own = named.filter((name) => busiest.includes(name)).sort(byRank);
  const lanes = named.length <= most ? own : [...own, OTHERS];
  const laneOf = (name: string): number => {
    const at = lanes.indexOf(name);
    return at < 0 ? lanes.length - 1 : at;
  };
  const arrows = messages.map(({ from, to, ...rest }) => ({ from: laneOf(from), to: laneOf(to), ...rest }));
  return { lanes, arrows };
}

function messagesOf({ number, moment }: Numbered): readonly Message[] {
  const { sessionId, sourceId, event, born } = moment;
  // The stream speaks about itself to nobody.
  if (event === null || sessionId === "inspector") return [];
  const told = { from: sourceId ?? sessionId, to: sessionId, label: event, moment: number, isBirth: false };
  const births = born.map(([child, parent]) => {
    return { from: parent ?? sessionId, to: child, label: "made", moment: number, isBirth: true };
  });
  return [told, ...births];
}

/** The daemon's own actors stand at the left. */
function byRank(a: string, b: string): number {
  return rankOf(a) - rankOf(b);
}

function rankOf(name: string): number {
  const rank = ["supervisor", "launcher", "scheduler"].indexOf(name);
  return rank < 0 ? Number.MAX_SAFE_INTEGER : rank;
}

function mostTold(names: readonly string[], messages: readonly Message[]): readonly string[] {
  const counts = new Map<string, number>();
  for (const { from, to } of messages) {
    for (const name of new Set([from, to])) counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...names].sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0));
}
