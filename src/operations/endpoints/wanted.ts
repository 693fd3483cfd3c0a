/**
 * What somebody wants of an endpoint for a while, whoever it is: a person or a planner. One way for all of them, with the same
 * rules, and with who it is put on record; what a planner wants stands back behind what a person has said.
 */
import { isPlanners } from "../../core/governor/author.js";
import { type Hint, type HintKind, readHint } from "../../core/governor/hint.js";
import { type EpochMs, parseInstant } from "../../core/time/instant.js";
import { type Caller, OperationError } from "../operation.js";
import type { Acting } from "../ports.js";
import { isUsedUp, readHints, withHint, withoutHints } from "../records/hints.js";
import { noSuchEndpoint, refusedFor } from "./change.js";
import { type EndpointRecord, identityIn } from "./records.js";
import type { EndpointAnswer } from "./shapes.js";
import { hintsAnswer } from "./view.js";

export interface Author {
  readonly tenant: string;
  /** Absent: whoever runs the daemon. */
  readonly by?: string;
}

export function authorOf({ tenant, keyId }: Caller): Author {
  return { tenant, ...(keyId === null ? {} : { by: keyId }) };
}

interface Wish {
  readonly intervalMs?: number;
  readonly nextRunAt?: EpochMs;
  readonly ttlMs: number | null;
  readonly reason: string;
}

type HintsInForce = EndpointAnswer["hints"];

/** Held to the same rules as a hint from anywhere else; what is wrong is told at the fields of the request. */
export async function hinted(
  ports: Acting,
  { tenant, by }: Author,
  endpoint: EndpointRecord,
  wish: Wish,
): Promise<HintsInForce> {
  const hint = hintFrom(wish, ports, by);
  const answer = await ports.supervisor.hint(identityIn(tenant, endpoint), hint);
  if (answer === "unknown" || answer === "held") throw notDone(answer === "held" ? by : undefined, endpoint);
  if (answer === "used") throw usedBefore();
  return inForce(ports, tenant, endpoint);
}

function usedBefore(): OperationError {
  const message = "a run for this instant, or a later one, was hinted before";
  return refusedFor([{ code: "instant-range", message, path: ["nextRunAt"] }]);
}

/** Judged as if it were wanted, and nothing is. */
export async function wouldBeHinted(
  ports: Acting,
  { tenant, by }: Author,
  endpoint: EndpointRecord,
  wish: Wish,
): Promise<HintsInForce> {
  const hint = hintFrom(wish, ports, by);
  const identity = identityIn(tenant, endpoint);
  if (await isUsedUp(ports.reader, identity, hint)) throw usedBefore();
  const hints = await readHints(ports.reader, identity, ports.now());
  return hintsAnswer(hints === null ? null : withHint(hints, hint, ports.now()));
}

export async function wouldBeCleared(
  ports: Acting,
  { tenant }: Author,
  endpoint: EndpointRecord,
  kind: HintKind | "all",
): Promise<HintsInForce> {
  const hints = await readHints(ports.reader, identityIn(tenant, endpoint), ports.now());
  return hintsAnswer(hints === null ? null : withoutHints(hints, kind));
}

/** Judged before anybody is hinted. */
export function hintFrom(wish: Wish, { now }: Pick<Acting, "now">, by: string | undefined): Hint {
  const read = readHint(wish, now(), by);
  if (read.ok) return read.value;
  throw refusedFor(read.error.map(({ path, ...problem }) => ({ ...problem, path: path.map(asWritten) })));
}

export async function cleared(
  ports: Acting,
  { tenant, by }: Author,
  endpoint: EndpointRecord,
  kind: HintKind | "all",
): Promise<HintsInForce> {
  const isDone = await ports.supervisor.clearHints(identityIn(tenant, endpoint), kind, by);
  if (!isDone) throw notDone(by, endpoint);
  return inForce(ports, tenant, endpoint);
}

export async function hold(
  ports: Acting,
  { tenant, by }: Author,
  endpoint: EndpointRecord,
  untilAt: EpochMs,
  reason: string,
): Promise<void> {
  if (untilAt <= ports.now()) throw inThePast();
  const isDone = await ports.supervisor.pause(identityIn(tenant, endpoint), untilAt, reason, false, by);
  if (!isDone) throw notDone(by, endpoint);
}

export async function letGo(ports: Acting, { tenant, by }: Author, endpoint: EndpointRecord): Promise<void> {
  const isDone = await ports.supervisor.resume(identityIn(tenant, endpoint), by);
  if (!isDone) throw notDone(by, endpoint);
}

function notDone(by: string | undefined, { id }: EndpointRecord): OperationError {
  if (!isPlanners(by)) return noSuchEndpoint(id);
  return new OperationError("refused", "a person's hint or pause is in force, or it is gone");
}

function asWritten(field: string | number): string | number {
  return field === "ttlMs" ? "ttlMinutes" : field;
}

async function inForce(ports: Acting, tenant: string, endpoint: EndpointRecord): Promise<HintsInForce> {
  return hintsAnswer(await readHints(ports.reader, identityIn(tenant, endpoint), ports.now()));
}

export function instantAt(text: string, field: string): EpochMs {
  const read = parseInstant(text);
  if (!read.ok) throw refusedFor([{ ...read.error, path: [field] }]);
  return read.value;
}

/** Of a pause, as somebody wrote it. */
export function pauseEndAt(text: string, { now }: Pick<Acting, "now">): EpochMs {
  const untilAt = instantAt(text, "pausedUntil");
  if (untilAt <= now()) throw inThePast();
  return untilAt;
}

function inThePast(): OperationError {
  const message = "the end of the pause lies in the past";
  return refusedFor([{ code: "instant-range", message, path: ["pausedUntil"] }]);
}
