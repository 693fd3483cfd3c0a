/** R6, short form: the quick mutants of the list. All of them: `npm run torture -- mutants`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as path from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

const RUNNER = path.resolve(import.meta.dirname, "mutants.mjs");

test("R6: a rule of the protocol that is forgotten is noticed", async () => {
  const child = spawn(process.execPath, [RUNNER, "--quick"], { stdio: ["ignore", "pipe", "inherit"] });
  const [said, [status]] = await Promise.all([text(child.stdout), once(child, "close")]);
  console.log(said.trimEnd());
  expect(said).toMatch(/R6: ([5-9]) of \1 killed/);
  expect(status).toBe(0);
});
