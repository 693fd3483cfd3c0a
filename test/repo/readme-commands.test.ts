/** What the README shows at a terminal: every command is typed, every line it shows is printed, every picture is there. */
import * as fs from "node:fs";
import * as path from "node:path";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { KROND } from "../../src/cli/commands/krond/index.js";
import { runCaptured } from "../support/cli.js";
import { binariesIn, matches, program, Shell, stepsOf } from "../support/transcript.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const FIXTURES = path.join(import.meta.dirname, "fixtures");
const PAGE = fs.readFileSync(path.join(ROOT, "README.md"), "utf8");
const MOST_PICTURE_BYTES = 150_000;
const SHELL_BLOCK = /^```sh\n([\s\S]*?)^```$/gm;
const LINK = /\]\(([^)#:]+)(?:#[^)]*)?\)/g;

const programs = inject("programs");
const steps = stepsOf(PAGE);
const commands = steps.flatMap((step) => (step.kind === "command" ? [step] : []));
const folder = fs.mkdtempSync(path.join(path.dirname(programs.kron), "readme-"));
let shell: Shell;

beforeAll(() => {
  fs.copyFileSync(path.join(ROOT, "examples/forecast/fleet.yaml"), path.join(folder, "fleet.yaml"));
  fs.copyFileSync(path.join(FIXTURES, "broken.yaml"), path.join(folder, "broken.yaml"));
  for (const step of steps) if (step.kind === "file") fs.writeFileSync(path.join(folder, step.name), step.text);
  const bin = binariesIn(folder, programs);
  program(bin, "crontab", `cat '${path.join(FIXTURES, "midnight.crontab")}'`);
  const { PATH = "" } = process.env;
  shell = new Shell(folder, { PATH: `${bin}:${PATH}`, HOME: folder, TZ: "UTC", LANG: "C.UTF-8" });
});

afterAll(async () => {
  await shell.end();
  fs.rmSync(folder, { recursive: true, force: true });
});

describe("a console block of the README", () => {
  test.each(commands)("is what it prints: $command", async ({ command, printed }) => {
    const lines = await shell.run(command);
    if (!matches(printed, lines)) expect(lines).toEqual(printed);
  });

  test("there are enough of them, and the first is about one's own crontab", () => {
    expect(commands.length).toBeGreaterThan(9);
    expect(commands[0]?.command).toBe("crontab -l | kron import crontab - | kron forecast - -o plot");
  });
});

/** Program, verb and the rest of the commands in blocks that are not run. */
const typed = [...PAGE.matchAll(SHELL_BLOCK)].flatMap(([, text = ""]) =>
  [...text.matchAll(/^(krond?) ([a-z]+)(.*)$/gm)].map(([, name = "", verb = "", rest = ""]) => {
    return { name, verb, rest: rest.replace(/ +#.*/, "") };
  }),
);

describe("a command of a shell block of the README", () => {
  test("there are some", () => {
    expect(typed.length).toBeGreaterThan(8);
  });

  test.each(typed)("has these options: $name $verb $rest", async ({ name, verb, rest }) => {
    const { exitCode, out } = await runCaptured(name === "kron" ? KRON : KROND, [verb, "--help"]);
    expect(exitCode).toBe(0);
    const options = [...rest.matchAll(/ (--[a-z-]+)/g)].map(([, option = ""]) => option);
    expect(options.filter((option) => !new RegExp(`${option}\\b`).test(out))).toEqual([]);
  });
});

describe("what the README points to", () => {
  test("is there", () => {
    const targets = [...PAGE.matchAll(LINK)].map(([, target = ""]) => target);
    expect(targets.length).toBeGreaterThan(15);
    expect(targets.filter((target) => !fs.existsSync(path.join(ROOT, target)))).toEqual([]);
  });

  test("its picture is small", () => {
    expect(fs.statSync(path.join(ROOT, "docs/forecast.png")).size).toBeLessThan(MOST_PICTURE_BYTES);
  });
});
