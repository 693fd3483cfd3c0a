import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { bundleEntry } from "../../support/bundle.js";

/** The real program in real processes, each in another world. */
let program: Awaited<ReturnType<typeof bundleEntry>>;
const elsewhere = mkdtempSync(join(tmpdir(), "kron-cli-"));

beforeAll(async () => {
  program = await bundleEntry("src/cli/kron.ts");
  cpSync("test/cli/files/fleet.yaml", join(elsewhere, "fleet.yaml"));
});

afterAll(() => {
  program.remove();
  rmSync(elsewhere, { recursive: true, force: true });
});

interface World {
  readonly env: Record<string, string>;
  readonly cwd: string;
  readonly file: string;
}

const HERE = { cwd: process.cwd(), file: "test/cli/files/fleet.yaml" };
const THERE = { cwd: elsewhere, file: "fleet.yaml" };
const WORLDS: readonly World[] = [
  { ...THERE, env: { TZ: "UTC", LANG: "C" } },
  { ...HERE, env: { TZ: "Asia/Kathmandu", LANG: "de_DE.UTF-8", LC_ALL: "tr_TR.UTF-8" } },
  { ...THERE, env: { TZ: "America/St_Johns", COLUMNS: "20", TERM: "xterm-256color", NODE_ENV: "production" } },
];

function kron([verb = "", ...argv]: readonly string[], { env, cwd, file }: World) {
  const horizon = ["--from", "2026-10-24T20:00:00Z", "--horizon", "30h"];
  const { status, stdout, stderr } = spawnSync(process.execPath, [program.file, verb, file, ...horizon, ...argv], {
    cwd,
    env: { PATH: process.env["PATH"] ?? "", ...env },
    encoding: "utf8",
  });
  return { status, stdout, stderr };
}

describe("byte-identical output for identical input and zone data, whatever the environment", () => {
  const forms = ["text", "json", "jsonl", "csv", "html", "plot"];
  test.each(forms)("kron forecast -o %s", (form) => {
    const argv = ["forecast", "-o", form, "--by", "tag", "--assume-duration", "90s"];
    const [reference, ...others] = WORLDS.map((world) => kron(argv, world));
    expect(reference).toMatchObject({ status: 0, stderr: "" });
    for (const other of others) expect(other).toEqual(reference);
  });

  test("kron tune proposes the same everywhere", () => {
    const proposals = WORLDS.map((world) => {
      const { status, stdout } = kron(["tune", "-o", "json"], world);
      expect(status).toBe(0);
      return JSON.parse(stdout).proposals.map(({ file, ...proposal }: Record<string, unknown>) => proposal);
    });
    expect(proposals).toEqual([proposals[0], proposals[0], proposals[0]]);
    expect(proposals[0]?.length).toBeGreaterThan(0);
  });
});
