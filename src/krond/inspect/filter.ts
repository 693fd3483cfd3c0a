/** Which frames a client wants, as the query string of its address says. */
import { err, ok, type Result } from "../../core/base/result.js";
import { matchesGlob } from "../../core/job/identity-glob.js";
import { type ActorKind, KINDS, type Said } from "./frames.js";

const FILTER_LIMITS = {
  patterns: 16,
  patternChars: 512,
  /** Resting jobs that are listed unless the client asks for more. */
  restingByDefault: 1_000,
} as const;

const DEFINITIONS = ["all", "once", "none"] as const;
type Definitions = (typeof DEFINITIONS)[number];

export interface InspectFilter {
  readonly kinds: ReadonlySet<ActorKind>;
  /** `*` stands for any text, `?` for one character. Empty: every job. */
  readonly patterns: readonly string[];
  /** How many resting jobs are listed on attach. */
  readonly resting: number;
  /** Which actors come with their charts: each, the first of its kind (the others with its name), or none. */
  readonly definitions: Definitions;
}

export const EVERYTHING: InspectFilter = {
  kinds: new Set(KINDS),
  patterns: [],
  resting: FILTER_LIMITS.restingByDefault,
  definitions: "all",
};

const FIELDS = ["identity", "kind", "resting", "definitions"] as const;

/** Or what is wrong with it, in words for the client. */
export function parseFilter(query: URLSearchParams): Result<InspectFilter, string> {
  const unknown = [...query.keys()].find((name) => !FIELDS.some((field) => field === name));
  if (unknown !== undefined) return bad(`unknown "${clip(unknown)}"`, `there is ${FIELDS.join(", ")}`);
  const patterns = query.getAll("identity");
  const isTooMuch = patterns.length > FILTER_LIMITS.patterns;
  if (isTooMuch) return bad(`identity: more than ${FILTER_LIMITS.patterns} patterns`, "use * or attach twice");
  if (patterns.some((pattern) => pattern === "" || pattern.length > FILTER_LIMITS.patternChars)) {
    return bad("identity: a pattern is empty or too long", "write it like identity=prod/*");
  }
  const kinds = readKinds(query.getAll("kind"));
  if (!kinds.ok) return kinds;
  const resting = readResting(query.get("resting"));
  if (!resting.ok) return resting;
  const written = query.get("definitions") ?? "all";
  const definitions = DEFINITIONS.find((known) => known === written);
  if (definitions === undefined) {
    return bad(`definitions: "${clip(written)}" is unknown`, `there is ${DEFINITIONS.join(", ")}`);
  }
  return ok({ kinds: kinds.value, patterns, resting: resting.value, definitions });
}

function readKinds(lists: readonly string[]): Result<ReadonlySet<ActorKind>, string> {
  if (lists.length === 0) return ok(EVERYTHING.kinds);
  const kinds = new Set<ActorKind>();
  for (const name of lists.flatMap((list) => list.split(","))) {
    const kind = KINDS.find((known) => known === name);
    if (kind === undefined) return bad(`kind: "${clip(name)}" is unknown`, `there is ${KINDS.join(", ")}`);
    kinds.add(kind);
  }
  return ok(kinds);
}

function readResting(written: string | null): Result<number, string> {
  if (written === null) return ok(FILTER_LIMITS.restingByDefault);
  if (written === "all") return ok(Number.POSITIVE_INFINITY);
  if (written === "none") return ok(0);
  if (/^\d{1,7}$/.test(written)) return ok(Number(written));
  return bad(`resting: "${clip(written)}" is no number`, "write resting=all, resting=none or a number");
}

function bad(message: string, hint: string): Result<never, string> {
  return err(`${message}; ${hint}`);
}

const CLIP_CHARS = 40;

function clip(text: string): string {
  return text.length > CLIP_CHARS ? `${text.slice(0, CLIP_CHARS)}...` : text;
}

export function wantsIdentity({ patterns }: InspectFilter, identity: string): boolean {
  return patterns.length === 0 || patterns.some((pattern) => matchesGlob(pattern, identity));
}

export function wants(filter: InspectFilter, { kind, identity }: Said): boolean {
  if (kind !== null && !filter.kinds.has(kind)) return false;
  return identity === null || wantsIdentity(filter, identity);
}
