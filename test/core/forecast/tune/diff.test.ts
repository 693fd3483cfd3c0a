import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { unifiedDiff } from "../../../../src/core/forecast/tune/edit/diff.js";
import { applyEdits, insertion, type TextEdit } from "../../../../src/core/forecast/tune/edit/edits.js";
import { patched } from "../../../support/patched.js";

describe("unified diffs", () => {
  test("a new line is shown as one, between its neighbours", () => {
    expect(unifiedDiff("a.yaml", "1\n2\n3\n4\n5\n6\n7\n8\n", [insertion(9, "\nnew")])).toBe(
      "--- a/a.yaml\n+++ b/a.yaml\n@@ -3,6 +3,7 @@\n 3\n 4\n 5\n+new\n 6\n 7\n 8\n",
    );
  });

  test("a changed last line without a newline says so on both sides", () => {
    expect(unifiedDiff("/etc/x.kron", "one\ntwo", [{ start: 4, end: 7, text: "2" }])).toBe(
      "--- a/etc/x.kron\n+++ b/etc/x.kron\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2\n\\ No newline at end of file\n",
    );
  });

  test("a name that would break the head is quoted", () => {
    expect(unifiedDiff("a\nb", "x\n", [insertion(1, "y")]).split("\n")[0]).toBe('--- "a/a\\nb"');
  });

  test("no edits, no diff", () => {
    expect(unifiedDiff("a", "x\n", [])).toBe("");
  });
});

test("property: applying the diff gives what applying the edits gives", () => {
  const texts = fc
    .array(fc.constantFrom("", "a", "bc", "def", "\r"), { minLength: 1, maxLength: 30 })
    .map((lines) => lines.join("\n"))
    .filter((text) => text !== "");
  const places = fc.array(fc.tuple(fc.nat(200), fc.constantFrom("X", "\nnew", "\nnew\nlines")), { maxLength: 6 });
  fc.assert(
    fc.property(texts, places, (text, wanted) => {
      const edits: TextEdit[] = wanted.map(([at, added]) => insertion(at % text.length, added));
      expect(patched(text, unifiedDiff("f", text, edits))).toBe(applyEdits(text, edits));
    }),
    { numRuns: 500, seed: 21 },
  );
});
