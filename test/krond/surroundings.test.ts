/** What a daemon finds itself in when it starts: odd masks, and being the first process of a container. */
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { builtPrograms, RunningKrond } from "../support/krond.js";
import { job, type Place, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const place = placesIn(temporaryDirectories(), programs);

const running: RunningKrond[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((it) => it.kill()));
});

/** `before` is a command that becomes the daemon. */
function startIn(here: Place, before: readonly string[]): RunningKrond {
  const args = ["start", "--config", here.config, "--state", here.state, "--log-format", "json"];
  const [program = "", ...rest] = [...before, process.execPath, programs().krond, ...args];
  const env = { ...process.env, KRON_CONFIG: "", KRON_STATE: "" };
  const it = new RunningKrond(spawn(program, rest, { stdio: ["ignore", "pipe", "pipe"], env }));
  running.push(it);
  return it;
}

/** Everything below a directory, with its mode. */
function modesBelow(directory: string): Map<string, number> {
  const names = fs.readdirSync(directory, { recursive: true, encoding: "utf8" });
  return new Map(names.map((name) => [name, fs.statSync(path.join(directory, name)).mode & 0o7777]));
}

describe("STATE: the state directory is its owner's, whatever the umask", () => {
  test.each(["0177", "0777", "0000"])(
    "umask %s: a first start, a run with output, and a second start",
    async (mask) => {
      const here = place(job("t/a", "umask; echo said"));
      const wrapped = ["sh", "-c", `umask ${mask}; exec "$@"`, "sh"];
      const first = startIn(here, wrapped);
      await first.ready();
      expect(here.kron("run", "t/a").status).toBe(0);
      await first.event("completed", { identity: "t/a", exit_code: 0 });
      expect(await first.kill("SIGTERM")).toBe(0);
      expect(fs.statSync(here.state).mode & 0o7777).toBe(0o700);
      const modes = modesBelow(here.state);
      expect(modes.size).toBeGreaterThan(3);
      expect([...modes].filter(([, mode]) => mode !== 0o700 && mode !== 0o600)).toEqual([]);
      // Jobs have the mask that they always have.
      expect(here.kron("logs", "t/a").out).toContain("0022\nsaid\n");
      const second = startIn(here, wrapped);
      await second.ready();
      expect(await second.kill("SIGTERM")).toBe(0);
    },
  );
});

const AS_FIRST = ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"];
const canBeFirst = spawnSync(AS_FIRST[0] ?? "", [...AS_FIRST.slice(1), "true"]).status === 0;
const NEEDS_NAMESPACE = canBeFirst ? "" : " (skipped: this needs a PID namespace)";

describe("process 1", () => {
  test.skipIf(!canBeFirst)(`a daemon that is process 1 says that nobody reaps orphans${NEEDS_NAMESPACE}`, async () => {
    const krond = startIn(place(job("t/a", "true")), AS_FIRST);
    expect(await krond.ready()).toMatchObject({ pid: 1 });
    expect(krond.lines.find(({ event }) => event === "no_init")).toMatchObject({
      level: "warn",
      hint: expect.stringContaining("tini"),
    });
  });

  test("any other says nothing of it", async () => {
    const krond = startIn(place(job("t/a", "true")), []);
    await krond.ready();
    expect(krond.lines.filter(({ event }) => event === "no_init")).toEqual([]);
  });
});
