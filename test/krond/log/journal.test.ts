import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { isJournal } from "../../../src/krond/log/journal.js";
import { temporaryDirectories } from "../../support/temporary.js";

const newDirectory = temporaryDirectories();

test("sd-daemon(3): the journal is where JOURNAL_STREAM names the stream that is open, and nowhere else", () => {
  const descriptor = fs.openSync(path.join(newDirectory(), "stream"), "w");
  const { dev, ino } = fs.fstatSync(descriptor);
  expect(isJournal(descriptor, { JOURNAL_STREAM: `${dev}:${ino}` })).toBe(true);
  for (const other of [`${dev}:${ino + 1}`, `${dev + 1}:${ino}`, `${dev}:${ino} `, "1", ""]) {
    expect(isJournal(descriptor, { JOURNAL_STREAM: other })).toBe(false);
  }
  expect(isJournal(descriptor, {})).toBe(false);
  fs.closeSync(descriptor);
  expect(isJournal(descriptor, { JOURNAL_STREAM: `${dev}:${ino}` })).toBe(false);
});
