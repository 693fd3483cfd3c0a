/** What is wished of an endpoint, judged and sealed: a record of it, which is nobody's yet. */
import { z } from "zod";
import { expressionProblem } from "../../core/endpoint/baseline.js";
import { NOTIFY_WISHED, type NotifyWish } from "../../core/endpoint/notify.js";
import { ENDPOINT_FIELDS, ENDPOINT_SPEC, type EndpointSpec } from "../../core/endpoint/spec.js";
import type { Acting } from "../ports.js";
import { refusedFor, sealed } from "./change.js";
import { mustNotBeSealed, sealedNotify, unsavedNotify } from "./notify.js";
import { type EndpointRecord, newIdOf } from "./records.js";
import { writtenName } from "./written-name.js";

/** null: the value that there is stays. */
const secretHeaders = z.record(z.string(), z.string().nullable()).default({});
const notify = NOTIFY_WISHED.nullable()
  .default(null)
  .meta(ENDPOINT_FIELDS.notify.meta() ?? {});
const name = writtenName.meta(ENDPOINT_FIELDS.name.meta() ?? {});
export const WISH = { ...ENDPOINT_FIELDS, name, secretHeaders, notify };
export type Wish = Omit<EndpointSpec, "secretHeaders" | "notify"> & {
  readonly secretHeaders: Readonly<Record<string, string | null>>;
  readonly notify: readonly NotifyWish[] | null;
};

/** What is wished for, as a record of its own. */
export function newEndpoint(ports: Acting, of: string, wish: Wish): EndpointRecord {
  const now = ports.now();
  const dates = { createdAt: now, updatedAt: now, version: 1 };
  return { id: newIdOf("ep"), jobId: of, spec: specOf(ports, wish), ...dates };
}

/** One that is nobody's, and never kept: what is secret of it is judged, and sealed by nobody. */
export function unsavedEndpoint(ports: Acting, { secretHeaders, ...wish }: Wish): EndpointRecord {
  const values = Object.entries(secretHeaders).map(([header, value]) => [header, value ?? ""] as const);
  const headers = { ...wish.headers, ...Object.fromEntries(values) };
  const notify = wish.notify === null ? null : unsavedNotify(wish.notify);
  return newEndpoint(ports, `job_${"0".repeat(16)}`, { ...wish, headers, secretHeaders: {}, notify });
}

/** Judged as it is written, and then sealed. What was taken before stays as it is for as long as nobody writes it otherwise. */
export function specOf(ports: Acting, wish: Wish, before?: EndpointSpec): EndpointSpec {
  const { endAt, baselineCron } = wish;
  const noCron =
    baselineCron === null || baselineCron === before?.baselineCron ? null : expressionProblem(baselineCron);
  if (noCron !== null) throw refusedFor([noCron]);
  if (endAt !== null && endAt !== before?.endAt && Date.parse(endAt) <= ports.now()) {
    throw refusedFor([{ code: "instant-range", message: "the end lies in the past", path: ["endAt"] }]);
  }
  mustNotBeSealed(wish.headers, ["headers"]);
  return ENDPOINT_SPEC.parse({
    ...wish,
    secretHeaders: sealed(ports, wish.secretHeaders, before?.secretHeaders),
    notify: wish.notify === null ? null : sealedNotify(ports, wish.notify, before?.notify ?? []),
  });
}
