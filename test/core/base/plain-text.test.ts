/** What others have written, as people may see it. */
import { expect, test } from "vitest";
import { PLAIN_TEXT, plainLines, plainText } from "../../../src/core/base/plain-text.js";

const PLAIN = new RegExp(`^${PLAIN_TEXT}$`, "u");

test.each([
  "prod/db backup",
  "ä 漢字 \u0645\u0631\u062d\u0628\u0627",
  "e\u0301",
  "\u{1f469}\u200d\u{1f4bb}",
  "\u{1f468}\u{1f3fd}\u200d\u{1f469}\u200d\u{1f467}",
  "\u2764\ufe0f\u200d\u{1f525}",
  "\u2764\ufe0f and 1\ufe0f\u20e3",
  "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645",
  "\u0dc1\u0dca\u200d\u0dbb\u0dd3",
  "\u0d28\u0d4d\u200d",
])("%j is as it is", (text) => {
  expect([plainText(text), PLAIN.test(text)]).toEqual([text, true]);
});

test.each([
  ["a control", "a\u001b[31mb", "a\ufffd[31mb"],
  ["a tab and the end of a line", "a\tb\nc", "a\ufffdb\ufffdc"],
  ["what turns text over", "\u202ea\u2066b\u200f\u061c", "\ufffda\ufffdb\ufffd\ufffd"],
  ["what nobody sees", "a\u200bb\u200cc\u2060d\ufeff\u00ad", "a\ufffdb\ufffdc\ufffdd\ufffd\ufffd"],
  ["a joiner that joins no picture", "a\u200db \u{1f469}\u200d", "a\ufffdb \u{1f469}\ufffd"],
  ["what is there without a picture", "a\ufe0f\u3164\u2800\u{e0041}", "a\ufffd\ufffd\ufffd\ufffd"],
  ["half a character", "a\ud800", "a\ufffd"],
])("%s is shown as what cannot be shown", (_what, text, shown) => {
  expect([plainText(text), PLAIN.test(text)]).toEqual([shown, false]);
});

test("of several lines each by itself", () => {
  expect(plainLines("a\u202e\nb\u0007")).toBe("a\ufffd\nb\ufffd");
});
