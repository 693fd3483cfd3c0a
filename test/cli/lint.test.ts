import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { KRON } from "../../src/cli/commands/index.js";
import { runCaptured } from "../support/cli.js";
import { temporaryDirectories } from "../support/temporary.js";

const newDirectory = temporaryDirectories();

describe("kron lint", () => {
  test("lists every error with file, line, column, the line itself, a caret and a hint; exit 2", async () => {
    const { exitCode, out } = await runCaptured(KRON, ["lint", "test/cli/files/broken.yaml"]);
    expect(exitCode).toBe(2);
    expect(out).toBe(`test/cli/files/broken.yaml:3:18: error: schedule: hour field: 25 is out of range
      schedule: "0 25 * * *"
                   ^^
  hint: write 0 to 23
test/cli/files/broken.yaml:4:5: error: widow: unknown field "widow"
      widow: 3h
      ^^^^^
  hint: did you mean window?
test/cli/files/broken.yaml:5:14: error: command: a command in one text needs shell: true
      command: backup --full
               ^^^^^^^^^^^^^
  hint: write it as a list, ["backup","--full"], or add shell: true
invalid: test/cli/files/broken.yaml: 0 jobs, 3 errors, 0 warnings
`);
  });

  test("a sound file: exit 0; --strict turns its warnings into a failure", async () => {
    const plain = await runCaptured(KRON, ["lint", "test/cli/files/jobs.yaml"]);
    const strict = await runCaptured(KRON, ["lint", "test/cli/files/jobs.yaml", "--strict"]);
    expect(plain.exitCode).toBe(0);
    expect(plain.out).toContain("home/never: warning: the constraints exclude the whole window");
    expect(strict.exitCode).toBe(2);
  });

  test("-o json: machine-readable, with code and category of the error model", async () => {
    const { out } = await runCaptured(KRON, ["lint", "test/cli/files/broken.yaml", "-o", "json"]);
    expect(JSON.parse(out)).toMatchObject({
      valid: false,
      errors: [
        { line: 3, column: 18, code: "cron-range", category: "ValidationError", path: ["schedule"] },
        { line: 4, column: 5, code: "field-unknown", category: "ConfigurationError" },
        { line: 5, column: 14, category: "ConfigurationError" },
      ],
    });
  });

  test("several files are one configuration: an identity may appear once (S37)", async () => {
    const { exitCode, out } = await runCaptured(KRON, [
      "lint",
      "test/cli/files/jobs.yaml",
      "test/cli/files/./jobs.yaml",
    ]);
    expect(exitCode).toBe(2);
    expect(out).toContain('the identity "prod/db-backup" is already used at test/cli/files/jobs.yaml:2:');
  });

  test("a directory is read in the order of its file names; other files are left alone", async () => {
    const { exitCode, out } = await runCaptured(KRON, ["lint", "examples"]);
    expect(exitCode).toBe(0);
    expect(out).toContain("ok: examples/jobs.kron, examples/krond.yaml, examples/notifications.yaml: ");
  });

  test("a file that krond would refuse for its mode: a warning with the command that mends it, once a place", async () => {
    const directory = newDirectory();
    for (const name of ["a", "b"]) {
      const text = `{"identity":"${name}","schedule":"@daily","command":["true"],"policy":{"deadline":"1h"}}\n`;
      fs.writeFileSync(path.join(directory, `${name}.jsonl`), text, { mode: 0o644 });
    }
    const lint = (...more: readonly string[]) => runCaptured(KRON, ["lint", directory, ...more]);
    expect(await lint("--strict")).toMatchObject({ exitCode: 0 });
    const file = path.join(directory, "a.jsonl");
    fs.chmodSync(file, 0o666);
    expect((await lint()).out).toContain(
      `warning: as it lies here, krond would not start with it: ${file} may be written by others than its owner (mode 0666)\n  hint: chmod go-w ${file}\n`,
    );
    expect(await lint("--strict")).toMatchObject({ exitCode: 2 });
    fs.chmodSync(file, 0o644);
    fs.chmodSync(directory, 0o777);
    const { out, exitCode } = await lint("-o", "json");
    const { warnings, valid } = JSON.parse(out) as { warnings: unknown[]; valid: boolean };
    expect([exitCode, valid]).toEqual([0, true]);
    expect(warnings).toMatchObject([{ kind: "untrusted", identities: [], hint: `chmod go-w ${directory}` }]);
  });

  test.each([
    ["pg_dump x | gzip > /b", "add shell: true: without a shell"],
    ["HOME=/tmp backup", "add shell: true: without a shell"],
    ["echo $HOME", "add shell: true: without a shell"],
    ["backup --full", 'write it as a list, ["backup","--full"], or add shell: true'],
  ])("a command in one text: %s", async (command, hint) => {
    const file = path.join(newDirectory(), "a.jsonl");
    fs.writeFileSync(file, JSON.stringify({ identity: "a", schedule: "@daily", command }), { mode: 0o644 });
    const { out, exitCode } = await runCaptured(KRON, ["lint", file]);
    expect([exitCode, out]).toEqual([2, expect.stringContaining(`hint: ${hint}`)]);
  });
});
