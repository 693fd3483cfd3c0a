/** State directories that somebody else has prepared: volumes of a cluster, units of systemd, a strict umask. */
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { builtPrograms, RunningKrond } from "../support/krond.js";
import { isRoot, ROOT_ONLY } from "../support/launcher.js";
import { job } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const newDirectory = temporaryDirectories();
/** Of a pod: `runAsUser` and `fsGroup`. */
const [POD_USER, POD_GROUP] = [1001, 2000];

const running: RunningKrond[] = [];
afterEach(async () => {
  await Promise.all(running.splice(0).map((it) => it.kill()));
});

function start(root: string, state: string, wrap: readonly string[]): RunningKrond {
  const config = path.join(root, "jobs.yaml");
  fs.writeFileSync(config, `jobs:\n${job("t/a", "true")}`, { mode: 0o644 });
  const [program = "", ...args] = [...wrap, process.execPath, programs().krond, "start"];
  const env = { ...process.env, HOME: "/", KRON_CONFIG: "", KRON_STATE: "" };
  const child = spawn(program, [...args, "--config", config, "--state", state, "--log-format", "json"], {
    stdio: ["ignore", "pipe", "pipe"],
    env,
  });
  const it = new RunningKrond(child);
  running.push(it);
  return it;
}

const AS_POD = ["setpriv", `--reuid=${POD_USER}`, `--regid=${POD_USER}`, `--groups=${POD_GROUP}`, "--"];

function place(): string {
  const root = newDirectory();
  fs.chmodSync(root, 0o755);
  return root;
}

describe("S31: volumes of a pod", () => {
  test.skipIf(!isRoot)(
    `fsGroup: the mount point is root's and its group may write: it is refused with the way out, which works${ROOT_ONLY}`,
    async () => {
      const root = place();
      const volume = path.join(root, "volume");
      fs.mkdirSync(volume);
      fs.chownSync(volume, 0, POD_GROUP);
      fs.chmodSync(volume, 0o2775);
      const refused = start(root, volume, AS_POD);
      expect(await refused.ended).toBe(3);
      const wayOut = `--state ${path.join(volume, "krond")}`;
      expect(refused.stderr).toContain(wayOut);
      expect(refused.lines.at(-1)).toMatchObject({ event: "fatal", hint: expect.stringContaining(wayOut) });
      // The second one finds what the first has made.
      for (const round of ["new", "again"]) {
        const krond = start(root, path.join(volume, "krond"), AS_POD);
        expect(await krond.ready(), round).toMatchObject({ jobs: 1 });
        expect(await krond.kill("SIGTERM")).toBe(0);
      }
      const made = fs.statSync(path.join(volume, "krond"));
      expect([made.uid, made.mode & 0o7777]).toEqual([POD_USER, 0o2700]);
    },
  );

  test.skipIf(!isRoot)(`no fsGroup: nothing can be made there, and the refusal names it${ROOT_ONLY}`, async () => {
    const root = place();
    const volume = path.join(root, "volume");
    fs.mkdirSync(volume, { mode: 0o755 });
    const refused = start(root, path.join(volume, "krond"), AS_POD);
    expect(await refused.ended).toBe(3);
    expect(refused.stderr).toContain(`install -d -m 0700 -o ${POD_USER} ${path.join(volume, "krond")}`);
    expect(refused.stderr).toContain("fsGroup");
  });
});

test.each(["0177", "0277", "0777", "000"])(
  "STATE-86: umask %s does not make a directory that nobody can enter",
  async (mask) => {
    const root = place();
    const krond = start(root, path.join(root, "state"), ["sh", "-c", `umask ${mask}; exec "$@"`, "sh"]);
    await krond.ready();
    expect(fs.statSync(path.join(root, "state")).mode & 0o7777).toBe(0o700);
    expect(await krond.kill("SIGTERM")).toBe(0);
  },
);
