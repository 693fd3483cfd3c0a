import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { bodyJudgeOf } from "../../../src/actors/dispatcher/body-judge.js";
import { LIMITS } from "../../../src/core/base/limits.js";
import type { BodyRule } from "../../../src/core/job/definition.js";

function faultOf(rule: BodyRule, chunks: readonly Buffer[]): string | null | undefined {
  const judge = bodyJudgeOf(rule);
  for (const chunk of chunks) judge?.take(chunk);
  return judge?.fault();
}

/** `[body, pointer, value, what is said]` */
const JSON_ROWS: readonly (readonly [string, string, string | number | boolean | null, string | null])[] = [
  ['{"status":"ok"}', "/status", "ok", null],
  ['{"status":"OK"}', "/status", "ok", 'what the body has at "/status" is not "ok"'],
  ['{"count":0}', "/count", 0, null],
  ['{"count":"0"}', "/count", 0, 'what the body has at "/count" is not 0'],
  ['{"a":[{"b":null}]}', "/a/0/b", null, null],
  ['{"a":[1]}', "/a/01", 1, 'the body has nothing at "/a/01"'],
  ['{"a":[1]}', "/a/length", 1, 'the body has nothing at "/a/length"'],
  ['{"a/b":{"~":true}}', "/a~1b/~0", true, null],
  ["true", "", true, null],
  ["{}", "/constructor", "x", 'the body has nothing at "/constructor"'],
  ['{"status":', "/status", "ok", "the body is not JSON"],
  ["", "/status", "ok", "the body is not JSON"],
];

describe("the body of an answer", () => {
  test.each(JSON_ROWS)("%s at %s is to be %s: %s", (body, pointer, value, fault) => {
    expect(faultOf({ kind: "equals", pointer, value }, [Buffer.from(body)])).toBe(fault);
  });

  test("property: a text is found wherever it stands, and however the body comes in pieces", () => {
    // Of few letters, a text begins anew within itself.
    const unit = fc.constantFrom("a", "b");
    const text = fc.oneof(
      fc.string({ unit: "binary", minLength: 1, maxLength: 8 }),
      fc.string({ unit, minLength: 1, maxLength: 8 }),
    );
    fc.assert(
      fc.property(
        text,
        fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit, maxLength: 40 })),
        fc.boolean(),
        fc.array(fc.nat(9)),
        (wanted, around, isIn, cuts) => {
          const body = Buffer.from(isIn ? around + wanted + around : around);
          const chunks: Buffer[] = [];
          let at = 0;
          for (const length of cuts) {
            chunks.push(body.subarray(at, at + length));
            at += length;
          }
          chunks.push(body.subarray(at));
          const isThere = body.includes(Buffer.from(wanted));
          expect(faultOf({ kind: "contains", text: wanted }, chunks) === null).toBe(isThere);
        },
      ),
    );
  });

  test("each byte is looked at once, however badly the text and the body go together", () => {
    let looks = 0;
    const half = "a".repeat(LIMITS.bodyRuleBytes / 2 - 1);
    const body = new Proxy(Buffer.from("a".repeat(64 * 1024)), {
      get: (bytes, name) => {
        if (name !== "length") looks += 1;
        return Reflect.get(bytes, name, bytes);
      },
    });
    expect(faultOf({ kind: "contains", text: `${half}b${half}` }, [body, body])).toMatch(/does not contain/);
    expect(looks).toBe(2 * body.length);
  });

  test("JSON that comes byte by byte is JSON", () => {
    const bytes = [...Buffer.from('{"status":"ööö"}')].map((byte) => Buffer.from([byte]));
    expect(faultOf({ kind: "equals", pointer: "/status", value: "ööö" }, bytes)).toBeNull();
  });

  test("JSON that is longer than is read is no success, and is not kept", () => {
    const chunk = Buffer.alloc(LIMITS.judgedBodyBytes / 2, " ");
    const rule: BodyRule = { kind: "equals", pointer: "", value: 1 };
    expect(faultOf(rule, [chunk, chunk.subarray(1), Buffer.from("1")])).toBeNull();
    expect(faultOf(rule, [chunk, chunk, Buffer.from("1")])).toMatch(/longer than 262144 bytes/);
  });

  test("where nothing is asked of it, it is not looked at", () => {
    expect(bodyJudgeOf(undefined)).toBeNull();
  });
});
