/** Every command that prints JSON, asked of a daemon that has something of everything, spells it alike. */
import * as fs from "node:fs";
import * as path from "node:path";
import { expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { KROND } from "../../src/cli/commands/krond/index.js";
import type { Program } from "../../src/cli/program.js";
import { runCaptured } from "../support/cli.js";
import { misspelled, valuesIn } from "../support/json-keys.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";
import { answer, wildServers } from "../support/wild-server.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const servers = wildServers();

const JOBS = [
  job("t/bad", "exit 3", ", tags: [x]"),
  job("t/long", "sleep 300"),
  `  - { identity: t/often, every: 1h, command: ["true"] }\n`,
].join("");
const TAB = "0 3 * * * /bin/true\n@reboot /bin/true\n";
const DAY = ["--from", "2026-03-01T00:00:00Z", "--horizon", "1d"];
const SITUATION = /```json\n(\{\n {2}"now"[\s\S]*?)```/.exec(fs.readFileSync("docs/planner.md", "utf8"))?.[1] ?? "";

/** In this order: what is shown was made before. `%`: an address where somebody answers. */
const ASKED: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "kron lint": [["tab", "-o", "json"]],
  "kron next": [
    ["--config", "jobs.yaml"],
    ["t/often", "--config", "jobs.yaml"],
    ["--crontab", "tab"],
  ],
  "kron explain": [["t/bad", "--config", "jobs.yaml"]],
  "kron verify": [["records"]],
  "kron forecast": [
    ["tab", ...DAY],
    ["jobs.yaml", "--by", "tag", "--assume-duration", "5m", ...DAY],
  ],
  "kron tune": [["tab", ...DAY]],
  "kron simulate": [
    ["tab", "--timeline", ...DAY],
    ["jobs.yaml", "--expect", "duplicates=0", ...DAY],
  ],
  "kron run": [["t/bad", "--wait"], ["t/long"]],
  "kron pause": [
    ["t/often", "--until", "2h", "--reason", "x"],
    ["t/bad", "--until", "2h", "--reason", "x", "--dry-run"],
  ],
  "kron hint": [["t/bad", "--every", "1h", "--ttl", "2h"], ["t/bad"]],
  "kron list": [[]],
  "kron history": [[], ["t/bad"]],
  "kron why": [["t/bad@2026-01-01T00:00:00Z"]],
  "kron logs": [["t/bad"], ["t/bad", "--list"]],
  "kron cancel": [["t/long"]],
  "kron resume": [["t/often"]],
  "kron job": [["create", "billing"], ["list"], ["show", "billing"], ["pause", "billing"], ["resume", "billing"]],
  "kron endpoint": [
    ["create", "billing/sync", "--url", "%", "--every", "5m", "--header", "X-Ours: 1"],
    ["list"],
    ["show", "billing/sync"],
    ["update", "billing/sync", "--every", "6m"],
    ["hint", "billing/sync", "--every", "1m", "--ttl", "10m"],
    ["run", "billing/sync"],
    ["pause", "billing/sync", "--until", "2h", "--reason", "x"],
    ["resume", "billing/sync"],
  ],
  "kron runs": [["billing/sync"]],
  "kron stats": [[], ["billing/sync"]],
  "kron keys": [["create", "--name", "ours", "--scope", "read"], ["list"]],
  "kron limits": [["show"], ["list"]],
  "kron plan": [[]],
  "kron planner": [["try", "situation.json"], ["rules"], ["sessions"]],
  "krond status": [[]],
  "krond keys": [["create", "--name", "ours", "--scope", "read"], ["list"]],
  "krond doctor": [[]],
  "krond reload": [[]],
  "krond stop": [[]],
  "krond state": [["check"]],
};

/** These print no JSON of their own, or have a database or a cluster to themselves: their tests ask them there. */
const ELSEWHERE = ["apply", "node", "mcp", "open", "operator", "import", "init", "completion", "start"];

/** Of the commands asked here, those that need no daemon's state. */
const STATELESS = ["lint", "next", "explain", "verify", "forecast", "tune", "simulate"];

const PROGRAMS: readonly Program[] = [KRON, KROND];

test("none is left out", () => {
  const all = PROGRAMS.flatMap(({ name, commands }) => commands.map((command) => [name, command.name] as const));
  const asked = all.filter(([, verb]) => !ELSEWHERE.includes(verb)).map((names) => names.join(" "));
  expect(Object.keys(ASKED).sort()).toEqual(asked.sort());
});

test("every key of every answer is in small letters and underscores", { timeout: 120_000 }, async () => {
  const server = await servers((socket) => answer(socket, 200, "thank you"));
  const here = place(`${JOBS}http: { allow: ["127.0.0.1"] }\n`);
  fs.writeFileSync(path.join(here.root, "tab"), TAB);
  fs.writeFileSync(path.join(here.root, "situation.json"), SITUATION);
  const { out: records } = await runCaptured(KRON, ["next", "t/bad", "--config", here.config, "-o", "jsonl"]);
  fs.writeFileSync(path.join(here.root, "records"), records);
  const krond = startKrond(here.config, here.state);
  await krond.ready();
  const wrong: string[] = [];
  for (const [command, rows] of Object.entries(ASKED)) {
    for (const row of rows) {
      const [name = "", verb = ""] = command.split(" ");
      const program = name === "krond" ? KROND : KRON;
      const words = row.map((word) => (word === "%" ? server.url : word));
      const state = STATELESS.includes(verb) ? [] : ["--state", here.state];
      const argv = [verb, ...words, ...state, ...(row.includes("-o") ? [] : ["-o", "json"])];
      const { out, err } = await runCaptured(program, argv, { cwd: here.root, nowAt: Date.now() });
      if (out === "") wrong.push(`${argv.join(" ")}: nothing: ${err}`);
      else wrong.push(...valuesIn(out).flatMap((value) => misspelled(value, argv.slice(0, 3).join(" "))));
    }
  }
  expect(wrong).toEqual([]);
});
