/** What may be asked over the control socket, as the daemon reads it. */
import { z } from "zod";
import { HINT_KINDS } from "../../core/governor/hint.js";
import { CONTROL_LIMITS } from "../control-answers.js";
import { STANDINGS } from "./list-filter.js";
import { LIST_LIMITS } from "./list-request.js";

const identity = z.string().min(1).max(512);
const instant = z.int();

function words<T extends z.ZodType>(word: T): z.ZodReadonly<z.ZodArray<T>> {
  return z.array(word).max(CONTROL_LIMITS.filterWords).readonly();
}

/** Which rows of a history are wanted, and whether decisions come with them. */
const HISTORY_WISHES = {
  sinceAt: instant.optional(),
  outcomes: words(z.string().max(64)).optional(),
  failed: z.boolean().optional(),
  decisions: z.boolean().optional(),
};

const REQUEST = z.discriminatedUnion("op", [
  z.strictObject({ op: z.literal("status") }),
  z.strictObject({
    op: z.literal("list"),
    after: identity.nullable(),
    limit: z.int().min(1).max(LIST_LIMITS.rows),
    filter: z.strictObject({
      identities: words(identity),
      standings: words(z.enum(STANDINGS)),
      tags: words(z.string().max(512)),
      isFailing: z.boolean().optional(),
      isRunning: z.boolean().optional(),
      dueBy: instant.optional(),
    }),
  }),
  z.strictObject({ op: z.literal("plan"), onThisHost: z.boolean().optional() }),
  z.strictObject({ op: z.literal("reload") }),
  z.strictObject({ op: z.literal("stop"), graceful: z.boolean() }),
  z.strictObject({ op: z.literal("run"), identity, ifIdle: z.boolean().optional() }),
  z.strictObject({ op: z.literal("cancel"), identity, periodAt: instant.nullable() }),
  z.strictObject({
    op: z.literal("pause"),
    identity,
    untilAt: instant,
    reason: z.string().max(1_000),
    catchUp: z.boolean().default(false),
  }),
  z.strictObject({ op: z.literal("resume"), identity }),
  z.strictObject({
    op: z.literal("hint"),
    identity,
    intervalMs: z.number().nullable(),
    nextRunAt: z.number().nullable(),
    ttlMs: z.number().nullable(),
    reason: z.string(),
  }),
  z.strictObject({ op: z.literal("unhint"), identity, kind: z.enum(["all", ...HINT_KINDS]) }),
  z.strictObject({ op: z.literal("hints"), identity }),
  z.strictObject({
    op: z.literal("history"),
    identity,
    limit: z.int().min(1).max(CONTROL_LIMITS.historyEntries),
    beforeAt: instant.nullable(),
    ...HISTORY_WISHES,
  }),
  z.strictObject({
    op: z.literal("history_of_all"),
    cursor: z.string().max(4_096).nullable(),
    limit: z.int().min(1).max(CONTROL_LIMITS.historyEntries),
    ...HISTORY_WISHES,
  }),
  z.strictObject({ op: z.literal("why"), identity, periodAt: instant.nullable(), at: instant.nullable() }),
]);

export type ControlRequest = z.infer<typeof REQUEST>;
export type ControlOp = ControlRequest["op"];

const ENVELOPE = z.strictObject({ id: z.int().min(0), request: REQUEST });
export type ControlEnvelope = z.infer<typeof ENVELOPE>;

export type ReadRequest =
  | { readonly ok: true; readonly envelope: ControlEnvelope }
  | { readonly ok: false; readonly id: number; readonly message: string };

export function readRequest(line: string): ReadRequest {
  let raw: unknown;
  try {
    raw = JSON.parse(line);
  } catch {
    return { ok: false, id: 0, message: "the request is not JSON" };
  }
  const read = ENVELOPE.safeParse(raw);
  if (read.success) return { ok: true, envelope: read.data };
  const issue = read.error.issues[0];
  return { ok: false, id: idOf(raw), message: `${issue?.path.join(".") ?? ""}: ${issue?.message ?? "cannot be read"}` };
}

function idOf(raw: unknown): number {
  const id = typeof raw === "object" && raw !== null && "id" in raw ? raw.id : 0;
  return typeof id === "number" && Number.isSafeInteger(id) ? id : 0;
}
