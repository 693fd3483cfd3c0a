/** docs/first-ten-minutes.md, typed by a newcomer: every file is written and every command run, beside a real daemon. */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, inject, test } from "vitest";
import { temporaryDirectories } from "../support/temporary.js";
import { binariesIn, matches, program, Shell, stepsOf, typed, withoutTheMoment } from "../support/transcript.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const CRONTAB = path.join(import.meta.dirname, "fixtures/newcomer.crontab");
const PAGE = fs.readFileSync(path.join(ROOT, "docs/first-ten-minutes.md"), "utf8");
const [PAGE_FOLDER, PAGE_ZONE] = ["/tmp/kron-first", "Europe/Berlin"];
/** What may be typed again until what it shows has come about. */
const LOOKS = /^(?:cat|tail|kron list|kron history|krond status)\b/;
const NOON = 12;

const temporary = temporaryDirectories();
const shells: Shell[] = [];
afterEach(async () => {
  await Promise.all(shells.splice(0).map((shell) => shell.end()));
});

/** Where it is about noon: no job of the page falls due by itself while it is read. */
function zoneAtNoon(now: Date): string {
  const hours = NOON - now.getUTCHours();
  return hours === 0 ? "Etc/GMT" : `Etc/GMT${hours > 0 ? "-" : "+"}${Math.abs(hours)}`;
}

describe("the first ten minutes", () => {
  test("are as the page shows them", async () => {
    const [folder, zone] = [temporary(), zoneAtNoon(new Date())];
    const bin = binariesIn(folder, inject("programs"));
    program(bin, "crontab", `cat '${CRONTAB}'`);
    const here = (text: string): string => text.replaceAll(PAGE_FOLDER, folder).replaceAll(PAGE_ZONE, zone);
    const asOnThePage = (line: string): string =>
      withoutTheMoment(line.replaceAll(folder, PAGE_FOLDER).replaceAll(zone, PAGE_ZONE));
    const { PATH = "" } = process.env;
    const shell = new Shell(folder, { PATH: `${bin}:${PATH}`, HOME: folder, TZ: "UTC", LANG: "C.UTF-8" });
    shells.push(shell);
    for (const step of stepsOf(PAGE)) {
      if (step.kind === "file") {
        fs.writeFileSync(path.join(folder, step.name), here(step.text), { mode: 0o644 });
        continue;
      }
      const { command } = step;
      const expected = step.printed.map(asOnThePage);
      const isExpected = (lines: readonly string[]): boolean => matches(expected, lines.map(asOnThePage));
      const lines = await typed(shell, here(command), isExpected, LOOKS.test(command));
      if (!isExpected(lines))
        expect({ command, printed: lines.map(asOnThePage) }).toEqual({ command, printed: expected });
    }
  });

  test("show what a newcomer has to know", () => {
    const commands = stepsOf(PAGE).flatMap((step) => (step.kind === "command" ? [step.command] : []));
    const words = [
      "lint",
      "next",
      "explain",
      "list",
      "why",
      "run",
      "logs",
      "pause",
      "resume",
      "plan",
      "import",
      "tune",
    ];
    const unseen = words.filter((word) => !commands.some((command) => command.includes(`kron ${word}`)));
    expect(unseen).toEqual([]);
    expect(commands.length).toBeGreaterThan(30);
  });
});

describe("a transcript", () => {
  test("is held against what is printed, but for lines that are left out", () => {
    expect(matches(["a", "...", "d"], ["a", "b", "c", "d"])).toBe(true);
    expect(matches(["a", "...", "d"], ["a", "b", "c"])).toBe(false);
    expect(matches(["a"], ["a", "b"])).toBe(false);
  });

  test("is the same at another moment, and not with another word", () => {
    const line = "home/disk  2026-11-19T21:00:37Z (in 17h31m24s)  cron  0";
    expect(withoutTheMoment(line.replace("37Z (in 17h31m24s)", "12Z (in 3m1s) "))).toBe(withoutTheMoment(line));
    expect(withoutTheMoment(line.replace("cron  0", "cron  1"))).not.toBe(withoutTheMoment(line));
  });
});
