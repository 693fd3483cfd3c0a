/** The job that was probably meant, for those who wrote a name that there is not. */
import { turnOfLoop } from "../../actors/turns.js";
import { editDistance } from "../../core/job/suggest.js";

/** Jobs that are looked at for a guess, and before everything else has its turn. */
const LOOKED_AT = 20_000;
const PER_TURN = 256;
/** How far a guess may lie off, at most; short names allow for less. */
const FARTHEST = 3;

/** One whose name ends in what was asked for, or is nearly the same. */
export async function nearIdentity(
  wanted: string,
  identities: Iterable<string> | AsyncIterable<string>,
): Promise<string | null> {
  const ending = `/${wanted}`;
  let near: string | null = null;
  let distance = Math.min(FARTHEST, Math.max(1, Math.floor(wanted.length / 3))) + 1;
  let looked = 0;
  for await (const identity of identities) {
    if (++looked > LOOKED_AT) break;
    if (looked % PER_TURN === 0) await turnOfLoop();
    if (identity.endsWith(ending)) return identity;
    const found = distanceOf(wanted, identity, distance);
    if (found < distance) [near, distance] = [identity, found];
  }
  return near;
}

/** Of the whole name, or of its last part. */
function distanceOf(wanted: string, identity: string, bound: number): number {
  const last = identity.slice(identity.lastIndexOf("/") + 1);
  const names = last === identity || wanted.includes("/") ? [identity] : [identity, last];
  const possible = names.filter((name) => Math.abs(name.length - wanted.length) < bound);
  return Math.min(Number.POSITIVE_INFINITY, ...possible.map((name) => editDistance(wanted, name)));
}
