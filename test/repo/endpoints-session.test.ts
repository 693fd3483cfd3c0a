/** docs/endpoints.md, "At a terminal": its file is written and its commands run, beside a real daemon and a real server. */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, expect, inject, test } from "vitest";
import { krondProcesses } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";
import { binariesIn, matches, Shell, stepsOf, withoutTheMoment } from "../support/transcript.js";
import { answer, wildServers } from "../support/wild-server.js";

const PAGE = fs.readFileSync(path.resolve(import.meta.dirname, "../../docs/endpoints.md"), "utf8");
const PAGE_SERVER = "http://127.0.0.1:8080/";

const programs = inject("programs");
const startKrond = krondProcesses(() => programs);
const place = placesIn(temporaryDirectories(), () => programs);
const servers = wildServers();
const shells: Shell[] = [];
afterEach(async () => {
  await Promise.all(shells.splice(0).map((shell) => shell.end()));
});

/** How long a request takes is another every time, and how wide its column is. */
function asOnThePage(line: string): string {
  return withoutTheMoment(line.replace(/\b\d+\.\d+s\b/g, "1s"));
}

test("a session at a terminal is as the page shows it", async () => {
  const server = await servers((socket, { path: at }) => {
    if (at.startsWith("/bad")) answer(socket, 503, "come back later");
    else answer(socket, 200, "thank you");
  });
  const here = place(`${job("t/configured", "true")}http: { allow: ["127.0.0.1"] }\n`);
  await startKrond(here.config, here.state).ready();
  const bin = binariesIn(here.root, programs);
  const { PATH = "" } = process.env;
  const env = { PATH: `${bin}:${PATH}`, HOME: here.root, TZ: "UTC", LANG: "C.UTF-8", KRON_STATE: here.state };
  const shell = new Shell(here.root, env);
  shells.push(shell);
  const steps = stepsOf(PAGE);
  expect(steps.filter(({ kind }) => kind === "command").length).toBeGreaterThan(15);
  for (const step of steps) {
    if (step.kind === "file") {
      fs.writeFileSync(path.join(here.root, step.name), step.text.replaceAll(PAGE_SERVER, server.url));
      continue;
    }
    const lines = await shell.run(step.command.replaceAll(PAGE_SERVER, server.url));
    const [expected, printed] = [step.printed.map(asOnThePage), lines.map(asOnThePage)];
    if (!matches(expected, printed))
      expect({ command: step.command, printed }).toEqual({ command: step.command, printed: expected });
  }
});
