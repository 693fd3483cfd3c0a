import { expect, test } from "vitest";
import { excerptOf } from "../../../src/actors/dispatcher/message.js";

const SECRETS = ["Bearer hush-hush", "abc"];

test.each([
  ["all of a secret", "you sent Bearer hush-hush, thank you", 512, "you sent [redacted], thank you"],
  ["a secret that the cut goes through", "you sent Bearer hush-hush", 20, "you sent [redacted]"],
  ["less than anybody could know it by", "you sent Bearer hush-hush", 11, "you sent Be"],
  ["a secret too short to be one", "abc", 512, "abc"],
  [
    "an end that only looks like a beginning, where nothing was cut",
    "the bearer of a Bearer",
    512,
    "the bearer of a Bearer",
  ],
])("what is kept of an answer: %s", (_, text, most, expected) => {
  expect(excerptOf([Buffer.from(text)], most, SECRETS)).toBe(expected);
});
