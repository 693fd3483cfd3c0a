/** Many that are released together, and what is said to a launcher that dies while it is being said. */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { LAUNCHER_LIMITS } from "../../../src/actors/launcher/child/limits.js";
import { LauncherLink } from "../../../src/actors/launcher/daemon/link.js";
import { PROTOCOL_VERSION } from "../../../src/actors/launcher/protocol.js";
import { eventually, shellRequest, testLaunchers } from "../../support/launcher.js";
import { temporaryDirectories } from "../../support/temporary.js";

const start = testLaunchers();
const temporary = temporaryDirectories();

describe("many that are released together", () => {
  test("S20, S23: each has one answer and one end, whether it ends at once, later, or is too late", async () => {
    const count = 150;
    const launcher = await start();
    const texts = ["exit 7", "sleep 0.2; exit 8", "exit 9", "kill -KILL $$"];
    const armed = await Promise.all(
      Array.from({ length: count }, (_, index) => launcher.ready(shellRequest(texts[index % texts.length] ?? ""))),
    );
    const latestAt = (index: number): number => Date.now() + (index % 4 === 2 ? -5_000 : 60_000);
    const answers = await Promise.all(armed.map((each, index) => launcher.port.go(each, latestAt(index))));
    expect(answers).toEqual(armed.map((_, index) => (index % 4 === 2 ? "late" : "started")));
    const began = armed.filter((_, index) => index % 4 !== 2);
    const ends = await Promise.all(began.map((each) => launcher.exitOf(each)));
    const expected = [
      { code: 7, signal: null },
      { code: 8, signal: null },
      { code: null, signal: "SIGKILL" },
    ];
    for (const [index, { ending }] of ends.entries()) expect(ending).toMatchObject(expected[index % 3] ?? {});
    expect(launcher.events.map(({ kind }) => kind)).toEqual(began.map(() => "ended"));
  });
});

/** It keeps what it hears, each of them in a file of its own. */
const LISTENER = `
import * as fs from "node:fs";
import * as net from "node:net";
const line = new net.Socket({ fd: 3, readable: true, writable: true });
line.on("data", (chunk) => fs.appendFileSync(new URL("./heard-" + process.pid, import.meta.url), chunk));
line.on("close", () => process.exit(0));
line.write(JSON.stringify({ t: "hello", version: ${PROTOCOL_VERSION}, pid: process.pid, maxArmed: 1 }) + "\\n");
`;

const MEANT_FOR_THE_FIRST = { t: "abort", id: "of the first" } as const;

describe("a launcher that dies while much is said to it", () => {
  const links: LauncherLink[] = [];
  afterEach(() => Promise.all(links.splice(0).map((link) => link.close())));

  test("R15: the next one hears nothing of what was meant for it", async () => {
    const directory = temporary();
    const entry = path.join(directory, "listener.mjs");
    fs.writeFileSync(entry, LISTENER);
    const ups: number[] = [];
    const link: LauncherLink = new LauncherLink(
      { entry, cgroupRoot: null },
      {
        up: () => ups.push(link.pid ?? 0),
        // In the turn in which its death is heard; and its successor is due by the end of it.
        down: () => {
          for (let index = 0; index < LAUNCHER_LIMITS.framesOfMany; index++) link.send(MEANT_FOR_THE_FIRST);
          const untilMs = performance.now() + 5;
          while (performance.now() < untilMs);
        },
        frame: () => undefined,
      },
    );
    links.push(link);
    link.start();
    await eventually(() => ups.length === 1, "the first is there");
    link.kill();
    await eventually(() => ups.length === 2, "the second is there");
    const heard = () => fs.readFileSync(path.join(directory, `heard-${ups[1]}`), "utf8");
    await eventually(() => fs.existsSync(path.join(directory, `heard-${ups[1]}`)), "the second has heard something");
    expect(heard()).toMatch(/^\{"t":"hello"/);
    expect(heard()).not.toContain(MEANT_FOR_THE_FIRST.id);
  });
});
