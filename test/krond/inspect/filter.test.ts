import { describe, expect, test } from "vitest";
import { EVERYTHING, type InspectFilter, parseFilter, wants } from "../../../src/krond/inspect/filter.js";
import { type ActorKind, eventFrame } from "../../../src/krond/inspect/frames.js";

function read(query: string): InspectFilter | string {
  const parsed = parseFilter(new URLSearchParams(query));
  return parsed.ok ? parsed.value : parsed.error;
}

const GOOD: readonly (readonly [query: string, expected: Partial<InspectFilter>])[] = [
  ["", EVERYTHING],
  ["kind=job,period", { kinds: new Set<ActorKind>(["job", "period"]) }],
  ["kind=job&kind=launcher", { kinds: new Set<ActorKind>(["job", "launcher"]) }],
  ["identity=prod/*&identity=a%2Cb", { patterns: ["prod/*", "a,b"] }],
  ["resting=all", { resting: Number.POSITIVE_INFINITY }],
  ["resting=none", { resting: 0 }],
  ["resting=25", { resting: 25 }],
  ["definitions=none", { definitions: "none" }],
  ["definitions=once", { definitions: "once" }],
];

const BAD: readonly (readonly [query: string, message: string])[] = [
  ["jobs=1", 'unknown "jobs"; there is identity, kind, resting, definitions'],
  ["kind=jobs", 'kind: "jobs" is unknown; there is supervisor, job, period, execution, launcher'],
  ["kind=", 'kind: "" is unknown; there is supervisor, job, period, execution, launcher'],
  ["identity=", "identity: a pattern is empty or too long; write it like identity=prod/*"],
  [`identity=${"x".repeat(513)}`, "identity: a pattern is empty or too long; write it like identity=prod/*"],
  ["identity=a&".repeat(17), "identity: more than 16 patterns; use * or attach twice"],
  ["resting=-1", 'resting: "-1" is no number; write resting=all, resting=none or a number'],
  ["resting=1e9", 'resting: "1e9" is no number; write resting=all, resting=none or a number'],
  ["definitions=some", 'definitions: "some" is unknown; there is all, once, none'],
];

describe("the query", () => {
  test.each(GOOD)("?%s", (query, expected) => {
    expect(read(query)).toMatchObject(expected);
  });

  test.each(BAD)("?%s is refused with words that help", (query, message) => {
    expect(read(query)).toBe(message);
  });
});

const PASSES: readonly (readonly [
  query: string,
  kind: ActorKind | null,
  identity: string | null,
  isWanted: boolean,
])[] = [
  ["", "job", "prod/a", true],
  ["kind=period", "job", "prod/a", false],
  ["kind=period", "period", "prod/a", true],
  ["identity=prod/*", "execution", "prod/a/b", true],
  ["identity=prod/*", "execution", "test/a", false],
  ["identity=prod/*&identity=test/a", "execution", "test/a", true],
  ["identity=prod/*", "supervisor", null, true],
  ["kind=job", "supervisor", null, false],
  ["identity=prod/*", "launcher", "", false],
  ["identity=*", "launcher", "", true],
  ["kind=job&identity=nothing", null, null, true],
];

describe("what passes", () => {
  test.each(PASSES)("?%s: %s of %s: %s", (query, kind, identity, isWanted) => {
    const filter = read(query);
    if (typeof filter === "string") throw new Error(filter);
    const frame = eventFrame("x", null, { type: "X" }, 0);
    expect(wants(filter, { kind, identity, frame })).toBe(isWanted);
  });
});
