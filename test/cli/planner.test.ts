/** kron planner: what a person sees of a planner, without a daemon. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { RULE_NAMES, ruleRows } from "../../src/planner/rules.js";
import { call, DONE, inTurn, says } from "../planner/misbehaving-server.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";
import { wildServers } from "../support/wild-server.js";

const PAGE = fs.readFileSync("docs/planner.md", "utf8");
const SITUATION = /```json\n(\{\n {2}"now"[\s\S]*?)```/.exec(PAGE)?.[1] ?? "";
const servers = wildServers();
const temporary = temporaryDirectories();

function tried(args: readonly string[] = [], input = SITUATION, env: Record<string, string> = {}) {
  return runCaptured(KRON, ["planner", "try", "-", ...args], { input, env });
}

describe("docs/planner.md is true", () => {
  test("its rules are those of the code, with every number, in their order", () => {
    const rows = PAGE.split("\n").filter((line) => RULE_NAMES.some((rule) => line.startsWith(`| \`${rule}\``)));
    expect(rows).toEqual(ruleRows().map(({ rule, when, effect }) => `| \`${rule}\` | ${when} | ${effect} |`));
  });

  test("its example is printed as it shows", async () => {
    const [, shown = ""] = /\$ kron planner try situation\.json\n([\s\S]*?)```/.exec(PAGE) ?? [];
    const { exitCode, out, err } = await tried();
    expect([exitCode, out, err]).toEqual([0, shown, ""]);
  });

  test("every option of the command is in it", () => {
    const { options = [] } = KRON.commands.find(({ name }) => name === "planner") ?? {};
    for (const { name } of options) expect(PAGE).toContain(`--${name}`);
  });
});

describe("kron planner try", () => {
  test("-o json is the session", async () => {
    const { exitCode, out } = await tried(["-o", "json"]);
    const session = JSON.parse(out) as Record<string, unknown>;
    expect([exitCode, session["kind"], session["v"]]).toEqual([0, "rules", 1]);
    expect(session["proposals"]).toMatchObject([{ type: "interval" }]);
  });

  test("reads a file as well", async () => {
    const directory = temporary();
    fs.writeFileSync(path.join(directory, "s.json"), SITUATION);
    const { exitCode, out } = await runCaptured(KRON, ["planner", "try", "s.json"], { cwd: directory });
    expect([exitCode, out]).toEqual([0, (await tried()).out]);
  });

  test("with --chat a model is asked, with the key that was named", async () => {
    const wish = { intervalMs: 600_000, ttlMinutes: 60, reason: "the upstream is down" };
    const server = await servers(
      inTurn(
        says({
          calls: [call("get_last_errors", {}), call("propose_interval", wish, "b")],
          usage: { total_tokens: 40 },
        }),
        DONE,
      ),
    );
    const args = ["--chat", `${server.url}v1`, "--model", "m", "--key-env", "K", "--allow-private"];
    const { exitCode, out, err } = await tried(args, SITUATION, { K: "secret-key" });
    expect([exitCode, err]).toEqual([0, ""]);
    expect(out).toContain("proposed: every 10m for 1h: the upstream is down\n");
    expect(out).toContain("  propose_interval: accepted: ");
    expect(server.hits.map(({ headers }) => headers["authorization"])).toEqual([
      "Bearer secret-key",
      "Bearer secret-key",
    ]);
    expect(out).not.toContain("secret-key");
  });

  test("a model that cannot be asked: the rules are, and it says why", async () => {
    const { exitCode, out } = await tried(["--chat", "http://127.0.0.1:9/v1", "--model", "m"]);
    expect(exitCode).toBe(0);
    expect(out).toMatch(/^the model: unavailable: address-forbidden: .*--allow-private.*; the rules say: /m);
    expect(out).toContain("proposed: every 20m for 1h\n");
  });

  test("tokens are bounded", async () => {
    const server = await servers(DONE);
    const { out } = await tried(["--chat", server.url, "--model", "m", "--allow-private", "--tokens", "10"]);
    expect(out).toContain("the model: quota: no tokens of the planner are left until ");
    expect(server.hits).toEqual([]);
  });

  test.each<readonly [string, readonly string[], number, RegExp]>([
    ["no verb", [], 1, /planner takes 'try FILE', 'try ENDPOINT', 'sessions' or 'rules'/],
    ["an unknown verb", ["guess", "x"], 1, /planner takes 'try FILE', 'try ENDPOINT', 'sessions' or 'rules'/],
    ["no file", ["try"], 1, /planner takes 'try FILE', 'try ENDPOINT', 'sessions' or 'rules'/],
    ["two files", ["try", "a", "b"], 1, /planner takes 'try FILE', 'try ENDPOINT', 'sessions' or 'rules'/],
    ["a file that there is not", ["try", "/nowhere/s.json"], 2, /\/nowhere\/s\.json: there is no such file\n/],
    [
      "options of a model without one",
      ["try", "-", "--model", "m"],
      1,
      /--model is about a model: say where it is with --chat/,
    ],
    ["a model without a name", ["try", "-", "--chat", "https://a.example"], 1, /--chat needs --model/],
    ["no URL", ["try", "-", "--chat", "a.example", "--model", "m"], 1, /--chat: not a URL/],
    [
      "a key in the clear",
      ["try", "-", "--chat", "http://a.example", "--model", "m", "--key-env", "K"],
      1,
      /in the clear/,
    ],
    [
      "two keys",
      ["try", "-", "--chat", "https://a.example", "--model", "m", "--key-env", "K", "--key-file", "F"],
      1,
      /give one of them/,
    ],
    ["no tokens", ["try", "-", "--chat", "https://a.example", "--model", "m", "--tokens", "0"], 1, /--tokens/],
    ["an unknown form", ["try", "-", "-o", "xml"], 1, /unknown output form/],
  ])("%s: one line and an exit code, and nobody is asked", async (_, args, exitCode, message) => {
    const answered = await runCaptured(KRON, ["planner", ...args], { input: SITUATION });
    expect([answered.exitCode, answered.out]).toEqual([exitCode, ""]);
    expect(answered.err).toMatch(message);
  });

  test("a situation with mistakes: each with its place", async () => {
    const input =
      '{"endpoint":{"id":"x","name":"y","baseline":{"text":"z","intervalMs":"5"},"foo":1},"runs":[{"endedAt":"noon"}]}';
    const { exitCode, out, err } = await tried([], input);
    expect([exitCode, out]).toEqual([2, ""]);
    expect(err).toContain('standard input: endpoint.baseline.intervalMs: expected a number, got "5"');
    expect(err).toContain("standard input: endpoint.foo: unknown field");
    expect(err).toContain("standard input: runs.0.endedAt: not an RFC 3339 timestamp");
    expect(err).toContain("4 problems in standard input");
  });

  test.each(["", "nonsense", "[]", "null"])("%j is no situation", async (input) => {
    const { exitCode, err } = await tried([], input);
    expect([exitCode, err.startsWith("kron: standard input: ")]).toEqual([2, true]);
  });
});

test("kron planner rules prints the rules", async () => {
  const { exitCode, out } = await runCaptured(KRON, ["planner", "rules"]);
  expect(exitCode).toBe(0);
  for (const { rule, when, effect } of ruleRows())
    expect(out).toContain(`${rule}\n  when  ${when}\n  then  ${effect}\n`);
  const json = await runCaptured(KRON, ["planner", "rules", "-o", "json"]);
  expect(JSON.parse(json.out)).toEqual(ruleRows());
});
