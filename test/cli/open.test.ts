import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { openInBrowser } from "../../src/cli/open-browser.js";
import { temporaryDirectories } from "../support/temporary.js";

const temporary = temporaryDirectories();
const URL = "http://127.0.0.1:7070/login#secret";

/** A desktop whose opener writes down what it was given. */
function desktop() {
  const [bin, run] = [temporary(), temporary()];
  const given = path.join(run, "given");
  const opener = path.join(bin, "xdg-open");
  // Renamed when it is whole, so that whoever waits for it reads all of it.
  fs.writeFileSync(opener, `#!/bin/sh\necho "$@" > ${given}.part && /bin/mv ${given}.part ${given}\n`, { mode: 0o755 });
  return { given, run, env: { PATH: `relative:${bin}`, DISPLAY: ":0", XDG_RUNTIME_DIR: run } };
}

test("a desktop's browser is given a file that leads there, which nobody else reads; the link is in no command line", async () => {
  const { env, given, run } = desktop();
  const file = path.join(run, "kron-open.html");
  fs.writeFileSync(file, "of before", { mode: 0o644 });
  expect(openInBrowser(URL, { env, isOutTerminal: true })).toBe(true);
  while (!fs.existsSync(given)) await new Promise((resolve) => setTimeout(resolve, 10));
  expect(fs.readFileSync(given, "utf8").trim()).toBe(file);
  expect(fs.readFileSync(file, "utf8")).toContain(`content="0;url=${URL}"`);
  expect(fs.statSync(file).mode & 0o777).toBe(0o600);
});

test.each([
  ["no terminal", {}, false],
  ["no desktop", { DISPLAY: "" }, true],
  ["nothing that opens", { PATH: "/nowhere" }, true],
  ["no folder of its own", { XDG_RUNTIME_DIR: "/nowhere/at/all" }, true],
])("nothing is opened where there is %s", (_, without, isOutTerminal) => {
  const { env, run } = desktop();
  expect(openInBrowser(URL, { env: { ...env, ...without }, isOutTerminal })).toBe(false);
  expect(fs.existsSync(path.join(run, "kron-open.html"))).toBe(false);
});
