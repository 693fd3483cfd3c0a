/** A recording as a file: JSON Lines, a frame on each, and before them the actors as they were found. */
import { type Told, toldIn } from "./frames.js";
import type { Recording } from "./recording.js";
import type { Actor } from "./world.js";

export const FILE_LIMITS = {
  chars: 64 * 1024 * 1024,
} as const;

export function exported(recording: Recording): string {
  const { base } = recording;
  const startAt = recording.frameAt(recording.first)?.createdAt ?? "0";
  const charts = new Map([...base.charts].map(([id, { config }]) => [id, JSON.stringify(config)]));
  const found = inOrderOfBirth([...base.actors.values()]).map((actor) =>
    JSON.stringify(birthOf(actor, charts, startAt)),
  );
  const frames: string[] = [];
  for (let at = recording.first; at < recording.end; at += 1) frames.push(JSON.stringify(recording.frameAt(at)));
  return `${[...found, ...frames].join("\n")}\n`;
}

/** Parents first, and the first of a kind with its chart. */
function inOrderOfBirth(actors: readonly Actor[]): readonly Actor[] {
  const names = new Map(actors.map((actor) => [actor.sessionId, actor]));
  const depthOf = (actor: Actor, most = 8): number => {
    const parent = actor.parentId === null ? undefined : names.get(actor.parentId);
    return parent === undefined || most === 0 ? 0 : 1 + depthOf(parent, most - 1);
  };
  return [...actors].sort((a, b) => depthOf(a) - depthOf(b));
}

function birthOf(
  { sessionId, name, parentId, kind, now }: Actor,
  charts: Map<string, string>,
  createdAt: string,
): Told {
  const definition = charts.get(kind) ?? JSON.stringify({ id: kind });
  charts.delete(kind);
  return {
    type: "@xstate.actor",
    sessionId,
    name,
    createdAt,
    ...(parentId === null ? {} : { parentId }),
    ...(kind === "" ? {} : { definition }),
    ...(now === null ? {} : { snapshot: now.snapshot }),
  };
}

export interface Line {
  readonly told: Told;
  readonly chars: number;
}

/** Every frame of a file, or what is wrong with which line: then nothing of it is taken. */
export function imported(text: string): readonly Line[] | string {
  if (text.length > FILE_LIMITS.chars) return `the file is larger than ${FILE_LIMITS.chars / 1024 / 1024} MB`;
  const lines: Line[] = [];
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const told = toldIn(parsed(line));
    if (typeof told === "string") return `line ${index + 1}: ${told}`;
    lines.push({ told, chars: line.length });
  }
  return lines.length === 0 ? "there is no frame in it" : lines;
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
