/** Why a file cannot be had, as people are told. */
import * as fs from "node:fs";
import { expect, test } from "vitest";
import { fileWords } from "../../../../src/core/base/errors/file-words.js";

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("it threw nothing");
}

test("what the system calls by a name is told in words; the rest as it says it itself", () => {
  expect(fileWords(thrownBy(() => fs.openSync("/nowhere/at/all", "r")))).toBe("there is no such file");
  expect(fileWords(thrownBy(() => fs.readFileSync("/")))).toBe("it is a directory");
  expect(fileWords(thrownBy(() => fs.openSync("/dev/null/x", "r")))).toBe("a part of its path is no directory");
  expect(fileWords(new Error("is larger than 1MB"))).toBe("is larger than 1MB");
  expect(fileWords("odd")).toBe("odd");
});
