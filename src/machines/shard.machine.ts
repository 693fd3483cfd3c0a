/**
 * The life of a shard in the hands of one node: it is looked after when it is this session's and no sooner, and has come to rest
 * before it is given back (C22). A supervisor of its own does the looking after; whoever holds the shard makes that, waits for
 * it, and tells the chart how it went.
 */
import { setup } from "xstate";
import { compiled } from "./advance.js";

export type ShardEvent =
  /** A supervisor is to be begun; then how that went. */
  | { readonly type: "BEGIN" | "BEGUN" | "FAILED" }
  /** It is to be given back. */
  | { readonly type: "STOP" }
  /** Nothing that was asked of its jobs is under way any more. */
  | { readonly type: "QUIET" }
  /** Its supervisor has come to rest. */
  | { readonly type: "RESTED" };

export type ShardEffect =
  /** Whoever waits for it to be looked after need not wait any longer, whatever has become of it. */
  | "tellReady"
  /** The supervisor is rid of what it shares with others. */
  | "letGo";

export type ShardLife =
  | "waiting"
  | "beginning"
  | "serving"
  | "broken"
  | "recalled"
  | "settling"
  | "resting"
  | "stopped";

const carriedOutByHolder = () => {};

const definition = setup({
  types: { events: {} as ShardEvent },
  actions: { tellReady: carriedOutByHolder, letGo: carriedOutByHolder },
}).createMachine({
  id: "shard",
  initial: "waiting",
  states: {
    /** It is ours, and its turn has not come. */
    waiting: { on: { BEGIN: "beginning", STOP: "stopped" } },
    beginning: { on: { BEGUN: "serving", FAILED: "broken", STOP: "recalled" } },
    serving: { entry: "tellReady", on: { STOP: "settling" } },
    /** It could not be begun, and is begun anew after a while. */
    broken: { entry: ["letGo", "tellReady"], on: { BEGIN: "beginning", STOP: "stopped" } },
    /** It was to be given back before it was begun: what is half begun cannot be ended. */
    recalled: { on: { BEGUN: "settling", FAILED: "stopped" } },
    /** Nothing more is asked of its jobs here; what was asked before is done to its end. */
    settling: { entry: "tellReady", on: { QUIET: "resting" } },
    resting: { on: { RESTED: "stopped" } },
    stopped: { type: "final", entry: ["letGo", "tellReady"] },
  },
});

export const shardMachine = compiled(definition);
