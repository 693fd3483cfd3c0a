/** R6, short form: the quick mutants of the list. All of them: `npm run torture -- mutants`. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import * as path from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";

const RUNNER = path.resolve(import.meta.dirname, "mutants.mjs");

it("R6: a rule of the protocol that is forgotten is noticed", { timeout: 120_000 }, async () => {
  const child = spawn(process.execPath, [RUNNER, "--quick"], { stdio: ["ignore", "pipe", "inherit"] });
  const [said, [status]] = await Promise.all([text(child.stdout), once(child, "close")]);
  console.log(said.trimEnd());
  expect(said).toMatch(/R6: 5 of 5 killed/);
  expect(status).toBe(0);
});
