import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { KROND } from "../../src/cli/commands/krond/index.js";
import { completedProgram } from "../../src/cli/completion/words.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const temporary = temporaryDirectories();

/** A `kron` that knows three jobs, writes down how it was asked, and does not filter. */
function fakeKron(): { readonly directory: string; asked(): string } {
  const directory = temporary();
  const rows = ["t/a", "t/with space", "crontab:x:12", "t/ab", 'odd"one'].map((identity) =>
    JSON.stringify({ identity, standing: "enabled" }),
  );
  fs.writeFileSync(path.join(directory, "rows"), `${rows.join("\n")}\n`);
  const script = `#!/bin/sh\necho "$@" >> ${directory}/asked\ncat ${directory}/rows\n`;
  fs.writeFileSync(path.join(directory, "kron"), script, { mode: 0o755 });
  return { directory, asked: () => fs.readFileSync(path.join(directory, "asked"), "utf8").trim() };
}

async function script(shell: string): Promise<string> {
  const { exitCode, out } = await runCaptured(KRON, ["completion", shell]);
  expect(exitCode).toBe(0);
  return out;
}

/** What bash would offer for a line with the cursor at its end, as it would put it in. */
async function offered(
  line: string,
  directory: string,
  lastWord = line.split(/[\s:=@]/).at(-1) ?? "",
): Promise<string[]> {
  const program = line.split(" ")[0] ?? "";
  const source = `${await script("bash")}
COMP_LINE=$1 COMP_POINT=\${#1} COMP_WORDS=(x "$2") COMP_CWORD=1
__${program}_complete
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const env = { PATH: `${directory}:${process.env["PATH"]}` };
  const { stdout, stderr } = spawnSync("bash", ["--norc", "-c", source, "bash", line, lastWord], {
    encoding: "utf8",
    env,
  });
  expect(stderr.replace(/.*compopt: not currently executing completion function\n/g, "")).toBe("");
  return stdout.split("\n").filter((word) => word !== "");
}

describe("completion for bash", () => {
  test.each([
    ["kron wh", ["why"]],
    ["krond st", ["start", "status", "stop", "state"]],
    ["kron --v", ["--version"]],
    ["kron pause --u", ["--until"]],
    ["kron list -o ", ["text", "json", "jsonl"]],
    ["kron list -o js", ["json", "jsonl"]],
    ["kron list --standing ", ["enabled", "suspended", "paused", "removed"]],
    ["kron list --sort ", ["name", "next", "last", "duration", "lateness", "failures"]],
    ["kron list --outcome mi", ["missed"]],
    ["kron history --outcome m", ["missed"]],
    ["kron forecast -o h", ["html"]],
    ["kron pause t/ab t/w", ["t/with\\ space"]],
    ["krond start --store ", ["lmdb", "files"]],
    ["kron job re", ["resume"]],
    ["kron endpoint ap", ["apply"]],
    ["kron endpoint create --secret", ["--secret-header"]],
    ["kron endpoint create --window-mode a", ["after", "around"]],
    ["kron runs --status t", ["timeout"]],
    ["kron stats --window ", ["1h", "4h", "24h", "30d"]],
    ["kron limits s", ["show", "set"]],
    ["kron keys r", ["rotate", "revoke"]],
    ["krond keys create --scope w", ["write"]],
    ["kron mcp --scope ", ["read", "write", "admin"]],
    ["krond state re", ["recover", "rewind"]],
    ["kron completion f", ["fish"]],
    ["kron plan ", []],
    ["kron nonsense ", []],
    ["kron why t/a", ["t/a", "t/ab"]],
    ["kron why t/w", ["t/with\\ space"]],
  ])("%j: %j", async (line, expected) => {
    expect(await offered(line, fakeKron().directory)).toEqual(expected);
  });

  test("identities with colons: bash replaces only what is behind the last one", async () => {
    expect(await offered("kron why cron", fakeKron().directory)).toEqual(["crontab:x:12"]);
    expect(await offered("kron why crontab:x:", fakeKron().directory, ":")).toEqual(["12"]);
    expect(await offered("kron why crontab:x:1", fakeKron().directory)).toEqual(["12"]);
  });

  test("jobs are asked for by what was typed, of the daemon that the line names, and not more than a screenful", async () => {
    const kron = fakeKron();
    await offered("kron logs --state /var/x t/", kron.directory);
    expect(kron.asked()).toBe("list --identity t/* --count 200 -o jsonl --state /var/x");
  });

  test("files where files are meant", async () => {
    expect(await offered("kron lint examples/krond.y", fakeKron().directory)).toEqual(["examples/krond.yaml"]);
    expect(await offered("krond start --state exampl", fakeKron().directory)).toEqual(["examples"]);
  });
});

describe("every shell", () => {
  test.each(["bash", "zsh", "fish"])("%s: knows every command and every option of both programs", async (shell) => {
    const text = await script(shell);
    for (const program of [KRON, KROND]) {
      for (const { name, options } of completedProgram(program).commands) {
        expect(text).toContain(name);
        for (const { names } of options)
          expect(text).toContain(shell === "fish" ? `-l ${names[0]?.slice(2)}` : names[0]);
      }
    }
  });

  for (const shell of ["bash", "zsh", "fish"]) {
    const isThere = spawnSync(shell, ["--version"]).status === 0;
    test.skipIf(!isThere)(
      `${shell}: the shell itself can read it${isThere ? "" : " (skipped: not installed)"}`,
      async () => {
        // Fish checks no standard input.
        const file = path.join(temporary(), "script");
        fs.writeFileSync(file, await script(shell));
        expect(spawnSync(shell, ["-n", file], { encoding: "utf8" })).toMatchObject({ status: 0, stderr: "" });
        fs.writeFileSync(file, "if (((\n");
        expect(spawnSync(shell, ["-n", file]).status).not.toBe(0);
      },
    );
  }

  test("another shell is wrong usage", async () => {
    const { exitCode, err } = await runCaptured(KRON, ["completion", "tcsh"]);
    expect([exitCode, err]).toEqual([1, expect.stringContaining("bash, zsh, fish")]);
  });
});
