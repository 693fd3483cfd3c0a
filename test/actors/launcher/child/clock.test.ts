import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";

const CHILD = "src/actors/launcher/child";

test("S20: nothing in the launcher's own process goes by its wall clock: when a start is in time the daemon says", () => {
  const files = fs.readdirSync(CHILD).filter((name) => name.endsWith(".ts"));
  const readers = files.filter((name) => /\bDate\b/.test(fs.readFileSync(path.join(CHILD, name), "utf8")));
  expect([files.length > 10, readers]).toEqual([true, []]);
});
