/** When an endpoint would run if it were made so: judged like one that is made, and nothing of it is kept. */
import { z } from "zod";
import { literalAddressOf } from "../../core/base/address.js";
import { governedOf } from "../../core/endpoint/baseline.js";
import type { EndpointSpec } from "../../core/endpoint/spec.js";
import { type NextRun, nextRun } from "../../core/governor/next-run.js";
import { type EpochMs, formatInstant } from "../../core/time/instant.js";
import { tenantOperation } from "../operation.js";
import { listOf, time } from "../shapes/words.js";
import type { EndpointRecord } from "./records.js";
import { mustBeAllowed } from "./settle.js";
import { RUN_SOURCES } from "./shapes.js";
import { hasEndedBy } from "./view.js";
import { unsavedEndpoint, WISH } from "./wish.js";

const MOST_RUNS = 100;
const USUAL_RUNS = 10;
const NO_HINTS = { interval: null, oneshot: null };

const PREVIEW_ANSWER = z.strictObject({
  /** No name is looked up: what a host's resolver finds is nothing for a tenant to learn. */
  address: z.enum(["allowed", "judged-when-sent"]).nullable().meta({
    description:
      "allowed: it stands in the URL, and requests may go there; judged-when-sent: a name; null: a worker sends it.",
  }),
  rows: listOf(z.strictObject({ at: time, source: z.enum([...RUN_SOURCES, "paused"]) })),
});
type PreviewAnswer = z.output<typeof PREVIEW_ANSWER>;

export const PREVIEW_ENDPOINT = tenantOperation({
  name: "endpoints.preview",
  summary:
    "the next runs of an endpoint that is not kept, from its nominal times or intervals and the bounds of its pace",
  http: { method: "POST", path: "/endpoints/preview" },
  access: "read",
  beginsSomething: false,
  input: z.strictObject({ ...WISH, count: z.int().min(1).max(MOST_RUNS).default(USUAL_RUNS) }),
  output: PREVIEW_ANSWER,
  run: async ({ count, ...wish }, ports, { tenant }): Promise<PreviewAnswer> => {
    const endpoint = unsavedEndpoint(ports, wish);
    await mustBeAllowed(ports, tenant, endpoint);
    return { address: verdictOf(endpoint.spec), rows: [...runsOf(endpoint, ports.now(), count)] };
  },
});

/** Of one that may be made: an address in the URL that is forbidden has been refused. */
function verdictOf({ by, url }: EndpointSpec): PreviewAnswer["address"] {
  if (by === "worker") return null;
  return literalAddressOf(new URL(url)) === null ? "judged-when-sent" : "allowed";
}

/** As if each of them began at its instant. */
function* runsOf(
  { spec }: EndpointRecord,
  createdAt: EpochMs,
  count: number,
): Generator<PreviewAnswer["rows"][number]> {
  let [lastRunAt, now]: [EpochMs | null, EpochMs] = [null, createdAt];
  for (let left = Math.min(count, spec.maxRuns ?? count); left > 0; left--) {
    const { at, source }: NextRun = nextRun({
      endpoint: governedOf(spec),
      hints: NO_HINTS,
      lastRunAt,
      createdAt,
      pausedUntil: null,
      now,
    });
    if (at === null || hasEndedBy({ spec }, formatInstant(at))) return;
    yield { at: formatInstant(at), source };
    [lastRunAt, now] = [at, at];
  }
}
