/** docs/mcp.md is true: its clients are set up as it says, what it shows is printed, and its tools are those that there are. */
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { afterAll, beforeAll, describe, expect, inject, test } from "vitest";
import { MCP_LIMITS } from "../../../src/api/mcp/limits.js";
import { surfaceOf } from "../../../src/api/mcp/surface.js";
import { KRON } from "../../../src/cli/commands/index.js";
import { type Operation, SCOPE_FOR } from "../../../src/operations/operation.js";
import { OPERATIONS } from "../../../src/operations/registry.js";
import { runProgram } from "../../support/krond.js";
import { job } from "../../support/place.js";
import { binariesIn, matches, Shell, stepsOf } from "../../support/transcript.js";
import { mcpDaemon } from "./mcp-daemon.js";

const ROOT = path.resolve(import.meta.dirname, "../../..");
const PAGE = fs.readFileSync(path.join(ROOT, "docs/mcp.md"), "utf8");
const programs = inject("programs");
const daemon = mcpDaemon(job("backup", "true"));
const surface = surfaceOf(OPERATIONS as unknown as readonly Operation[]);

const HAS_CURL = spawnSync("curl", ["--version"]).status === 0;
const NEEDS_CURL = HAS_CURL ? "" : " (those with curl are skipped: it is not installed)";

let shell: Shell;
let key = "";

/** As it is here. */
function local(text: string): string {
  return text.replaceAll("127.0.0.1:7070", daemon.address).replaceAll("/var/lib/krond", daemon.state);
}

beforeAll(async () => {
  ({ key } = await daemon.key(null, "read"));
  const bin = binariesIn(daemon.root, programs);
  const { PATH = "" } = process.env;
  shell = new Shell(daemon.root, {
    PATH: `${bin}:${PATH}`,
    HOME: daemon.root,
    KRON_STATE: daemon.state,
    KRON_KEY: key,
  });
});

afterAll(() => shell.end());

describe("what it shows", () => {
  const shown = stepsOf(PAGE).flatMap((step) => (step.kind === "command" ? [step] : []));
  const commands = shown.filter(({ command }) => HAS_CURL || !command.startsWith("curl"));

  test.each(commands)(`is what is printed: $command${NEEDS_CURL}`, async ({ command, printed }) => {
    const lines = await shell.run(local(command));
    if (!matches(printed, lines)) expect(lines).toEqual(printed);
  });

  test("there is something, and its program says why", async () => {
    expect(shown.length).toBeGreaterThan(3);
    const [, program = ""] = /```js\n([\s\S]*?)```/.exec(PAGE) ?? [];
    // Packages are looked up from where a program lies.
    const file = path.join(path.dirname(programs.kron), `watch-${process.pid}.mjs`);
    fs.writeFileSync(file, local(program).replace("process.env.KRON_KEY", JSON.stringify(key)));
    try {
      const { status, out, err } = runProgram(file, []);
      expect([status, err]).toEqual([0, ""]);
      expect(out).toMatch(/^backup: \S.*\n$/);
    } finally {
      fs.rmSync(file);
    }
  });
});

interface Server {
  readonly command?: string;
  readonly args?: readonly string[];
  readonly url?: string;
}

describe("clients that are set up as it says", () => {
  const blocks = [...PAGE.matchAll(/```json\n([\s\S]*?)```/g)].map(([, text = ""]) => text);
  const servers = blocks.map((text) => {
    const { mcpServers, servers: others } = JSON.parse(text) as Record<string, { readonly kron: Server }>;
    return (mcpServers ?? others)?.kron ?? {};
  });
  const typed = /^claude mcp add kron -- kron (.*)$/m.exec(PAGE)?.[1]?.split(" ") ?? [];

  test.each([...servers.flatMap(({ args }) => (args === undefined ? [] : [args])), typed])(
    "start kron %s %s %s ...",
    async (...args) => {
      const client = new Client({ name: "page", version: "1" });
      const own = args.map(local);
      await client.connect(
        new StdioClientTransport({ command: process.execPath, args: [programs.kron, ...own], stderr: "ignore" }),
      );
      try {
        expect((await client.callTool({ name: "job", arguments: { identity: "backup" } })).isError).toBeUndefined();
      } finally {
        await client.close();
      }
    },
  );

  test("there are three that start it and one that asks over HTTP", () => {
    expect(servers.map(({ command, url }) => command ?? url)).toEqual(["kron", "kron", "http://127.0.0.1:7070/mcp"]);
    expect(typed).toHaveLength(3);
  });
});

describe("its tables", () => {
  const rows = PAGE.split("\n").flatMap((line) => {
    const [, names = "", scope = "", marks = ""] = /^\| (`.*`) \| (read|write|admin) \| ?(.*) \|$/.exec(line) ?? [];
    return [...names.matchAll(/`(\w+)`/g)].map(([, name = ""]) => ({ name, scope, marks }));
  });

  test.each(rows)("say of $name what it says of itself", ({ name, scope, marks }) => {
    const tool = surface.tools.get(name);
    if (tool === undefined) throw new Error("there is no such tool");
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.listed.annotations;
    expect(SCOPE_FOR[tool.route.operation.access]).toBe(scope);
    expect(readOnlyHint).toBe(scope === "read" || marks.startsWith("only reads"));
    expect(destructiveHint).toBe(marks.includes("destructive"));
    expect(openWorldHint).toBe(marks.includes("open world"));
    expect(idempotentHint).toBe(readOnlyHint || marks.includes("idempotent"));
  });

  test("leave out none that changes something", () => {
    const changing = [...surface.tools.values()].filter(({ listed }) => !listed.annotations.readOnlyHint);
    const named = rows.map(({ name }) => name);
    expect(changing.map(({ listed }) => listed.name).filter((name) => !named.includes(name))).toEqual([]);
  });

  test("its resources are there, its options too, and its numbers are ours", () => {
    for (const [, uri = ""] of PAGE.matchAll(/`(kron:\/\/[^`]+)`/g)) {
      expect(surface.resources.map((resource) => resource.uri)).toContain(uri);
    }
    const { options = [] } = KRON.commands.find(({ name }) => name === "mcp") ?? {};
    for (const { name } of options) expect(PAGE).toContain(`--${name}`);
    expect(PAGE).toContain(`at most ${MCP_LIMITS.answerBytes / 1_024} KiB`);
    expect(PAGE).toContain(`${MCP_LIMITS.underWay} requests at once`);
    expect([MCP_LIMITS.lineChars, MCP_LIMITS.lastAnswersMs]).toEqual([1_024 * 1_024, 5_000]);
  });
});
