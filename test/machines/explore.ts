/** Breadth first over every world that can be reached. Two worlds are one if nothing that happens next can differ. */
import { keyOf } from "./keys.js";
import { FIRST_WORLD, type Setting, successors, type World } from "./world.js";

export interface Exploration {
  readonly states: number;
  readonly transitions: number;
  /** What went wrong, and the shortest way there; null: nothing can. */
  readonly violation: string | null;
  readonly trace: readonly string[];
  readonly began: number;
  readonly outcomes: readonly string[];
}

interface Node {
  readonly world: World;
  readonly parent: Node | null;
  readonly label: string;
}

/** `isWanted`: which violations to look for; worlds with others are gone through as if nothing were. */
export function explore(setting: Setting, isWanted: (violation: string) => boolean = () => true): Exploration {
  const seen = new Set<string>([keyOf(FIRST_WORLD)]);
  let level: readonly Node[] = [{ world: FIRST_WORLD, parent: null, label: "start" }];
  const tally = { transitions: 0, began: 0, outcomes: new Set<string>() };
  while (level.length > 0) {
    const next: Node[] = [];
    for (const node of level) {
      for (const { label, world: found } of successors(setting, node.world)) {
        tally.transitions += 1;
        const world = found.violation === null ? found : { ...found, violation: null };
        if (found.violation !== null && isWanted(found.violation)) {
          return report(seen.size, tally, found.violation, { world, parent: node, label });
        }
        const key = keyOf(world);
        if (!seen.has(key)) {
          seen.add(key);
          next.push({ world, parent: node, label });
          tally.began = Math.max(tally.began, Object.keys(world.begun).length);
          for (const outcome of Object.values(world.outcomes)) {
            tally.outcomes.add(outcome);
          }
        }
      }
    }
    level = next;
  }
  return report(seen.size, tally, null, null);
}

function report(
  states: number,
  tally: { readonly transitions: number; readonly began: number; readonly outcomes: ReadonlySet<string> },
  violation: string | null,
  last: Node | null,
): Exploration {
  const trace: string[] = [];
  for (let node = last; node !== null; node = node.parent) {
    trace.unshift(node.label);
  }
  const { transitions, began } = tally;
  return { states, transitions, violation, trace, began, outcomes: [...tally.outcomes].sort() };
}
