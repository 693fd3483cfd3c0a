import { z } from "zod";
import { count, identity, instant, listOf } from "./words.js";

const NODE_TOLD = z.strictObject({
  node: z.string(),
  version: z.string(),
  isDraining: z.boolean(),
  isAnswering: z.boolean(),
  pools: listOf(z.string()),
  shards: count,
  startedAt: instant,
  /** null, as what follows: it does not answer. */
  jobs: count.nullable(),
  active: count.nullable(),
  nextDueAt: instant.nullable(),
});

export const STATUS_ANSWER = z.strictObject({
  jobs: count,
  active: count,
  armed: count,
  nextDueAt: instant.nullable(),
  bootedAt: instant,
  /** Jobs that the start did not have to look at. Absent: it has read them all, or is one of several. */
  unread: count.optional(),
  pid: z.int().min(1),
  version: z.string(),
  stateDirectory: z.string(),
  /** Its name among several on one store; the rest is of this node alone, but for the nodes. */
  node: z.string().optional(),
  nodes: listOf(NODE_TOLD).optional(),
});

export type StatusShape = z.output<typeof STATUS_ANSWER>;

/** A reload that has come to its end: what it has changed, or why it has changed nothing. */
const RELOAD_TOLD = z.strictObject({
  at: instant,
  tookMs: count,
  added: count,
  removed: count,
  changed: count,
  unchanged: count,
  kept: count,
  problems: count,
  failure: z.string().nullable(),
});
export type ReloadTold = z.output<typeof RELOAD_TOLD>;

/** S6: by how much the clock was moved, back with a minus. */
const CLOCK_JUMP_TOLD = z.strictObject({ at: instant, jumpMs: z.number() });
export type ClockJumpTold = z.output<typeof CLOCK_JUMP_TOLD>;

export const CHRONICLE_ANSWER = z.strictObject({
  bootedAt: instant,
  /** S33: what this daemon alone may write to. */
  lock: z.strictObject({ place: z.string(), isHeld: z.boolean() }),
  /** Bytes that the store takes where it lies; null: nobody counts them, or it does not answer. */
  storeBytes: count.nullable(),
  /** The version of the time zones' data that schedules are computed with. */
  zoneData: z.string(),
  /** Newest first, both. */
  reloads: listOf(RELOAD_TOLD),
  clockJumps: listOf(CLOCK_JUMP_TOLD),
});
export type ChronicleShape = z.output<typeof CHRONICLE_ANSWER>;

const CHANGED_JOB = z.strictObject({
  identity,
  fields: listOf(z.string()),
  movesFrom: z.string().nullable(),
  movesTo: z.string().nullable(),
});

export const PLAN_ANSWER = z.strictObject({
  plan: z.strictObject({
    added: listOf(identity),
    removed: listOf(identity),
    changed: listOf(CHANGED_JOB),
    unchanged: count,
  }),
  kept: listOf(identity),
  problems: listOf(z.string()),
  notStartable: listOf(z.string()).optional(),
});
export type PlanShape = z.output<typeof PLAN_ANSWER>;
