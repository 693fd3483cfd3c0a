/**
 * Endpoints that were taken out. Their runs stay on record for as long as all runs do, and with them what explains those; when
 * the last of them has gone nobody asks for the rest any more: an endpoint never comes back under the number that it had.
 */

import type { EpochMs } from "../time/instant.js";
import { type EndpointName, endpointIdentity, endpointName } from "./endpoint-name.js";

export const GONE = "gone/";
const DIGITS = 15;

/** Names sort from the oldest to the newest. */
export function goneKey({ tenant, jobId, endpointId }: EndpointName, at: EpochMs): string {
  return `${GONE}${String(Math.max(0, at)).padStart(DIGITS, "0")}/${tenant}/${jobId}/${endpointId}`;
}

/** null: that is not the name of one. */
export function goneIn(key: string): { readonly identity: string; readonly at: EpochMs } | null {
  const [, digits = "", tenant = "", jobId = "", endpointId = ""] = key.split("/");
  const identity = endpointIdentity({ tenant, jobId, endpointId });
  const at = Number(digits);
  return endpointName(identity) === null || !Number.isSafeInteger(at) ? null : { identity, at };
}
