import { STATE_OPTION } from "../../state-options.js";
import { STORE_OPTIONS } from "../../store-words.js";
import { commandOfVerbs, type VerbsSpec } from "../../verbs.js";

export const NODE_VERBS = {
  name: "node",
  summary: "show the nodes that share a database, and take them out and in",
  details: `
Works on the database itself, whether or not any node lives: --store names it, or the --state of a node of this machine knows it.
docs/cluster.md says what each of these costs.`,
  verbs: {
    list: { takes: "[OPTIONS]", summary: "which nodes live, and what they look after", options: [] },
    drain: {
      takes: "NODE",
      summary: "it gives its jobs away, begins nothing, and watches its runs to their end",
      options: [],
    },
    undrain: { takes: "NODE", summary: "it takes its share again", options: [] },
    evict: {
      takes: "NODE",
      summary: "ends its session now: others take its jobs without waiting for its lease",
      options: [],
    },
    forget: { takes: "NODE", summary: "it is gone for good: its runs are given up for lost", options: [] },
  },
  options: [STATE_OPTION, ...STORE_OPTIONS],
  examples: `
kron node list --store postgres://krond@db.example/kron
kron node drain web1
kron node evict web2`,
} as const satisfies VerbsSpec<string>;

export const NODE = commandOfVerbs(NODE_VERBS);
