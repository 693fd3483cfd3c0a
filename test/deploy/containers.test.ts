/** krond in containers: what image and manifest say, held against what the program does under the same terms. */
import { spawn, spawnSync } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { KROND } from "../../src/cli/commands/krond/index.js";
import config from "../../tsup.config.js";
import { builtPrograms, RunningKrond } from "../support/krond.js";
import { isRoot, ROOT_ONLY } from "../support/launcher.js";
import { temporaryDirectories } from "../support/temporary.js";

type Fields = Readonly<Record<string, unknown>>;

const programs = builtPrograms();
const newDirectory = temporaryDirectories();
const dockerfile = fs.readFileSync("deploy/docker/Dockerfile", "utf8").replace(/\\\n/g, " ");
/** Instructions of the last stage: what the image is. */
const image = (dockerfile.split(/^FROM /m).at(-1) ?? "").split("\n").filter((line) => /^[A-Z]/.test(line));
const documents = parseAllDocuments(fs.readFileSync("deploy/kubernetes/krond.yaml", "utf8")).map(
  (document) => document.toJSON() as Fields,
);

function at(value: unknown, ...keys: readonly (string | number)[]): unknown {
  return keys.reduce<unknown>((inner, key) => (inner as Record<string | number, unknown> | undefined)?.[key], value);
}

function said(instruction: string): string {
  const lines = image.filter((line) => line.startsWith(`${instruction} `));
  expect(lines, instruction).toHaveLength(1);
  return (lines[0] ?? "").slice(instruction.length + 1);
}

const options = new Set(KROND.commands.find(({ name }) => name === "start")?.options.map(({ name }) => `--${name}`));
const ofKind = (kind: string): Fields => documents.find((document) => document["kind"] === kind) ?? {};
const pod = at(ofKind("Deployment"), "spec", "template", "spec");
const container = at(pod, "containers", 0);
const args = at(container, "args") as readonly string[];

describe("deploy/docker/Dockerfile", () => {
  test("two stages: what builds is not in the image, and only what the build makes is copied", () => {
    expect(dockerfile.match(/^FROM /gm)).toHaveLength(2);
    const copied = image.flatMap((line) => /^COPY --from=build \/src\/(\S+)/.exec(line)?.[1] ?? []);
    expect(copied).toEqual(["package.json", "dist", "node_modules"]);
    const linked = [...dockerfile.matchAll(/\/app\/dist\/([\w-]+)\.js/g)].map(([, name = ""]) => name);
    expect(linked.sort()).toEqual(["kron", "krond"]);
    expect(Object.keys(Array.isArray(config) ? {} : (at(config, "entry") ?? {}))).toEqual(
      expect.arrayContaining(linked),
    );
    for (const file of dockerfile.match(/^COPY (?!--from)(.*) \S+$/gm) ?? []) {
      for (const name of file.split(" ").slice(1, -1)) expect(fs.existsSync(name), name).toBe(true);
    }
  });

  test("an init reaps and passes signals on to the daemon only; the user is none who may do everything", () => {
    const entry = JSON.parse(said("ENTRYPOINT")) as string[];
    expect(entry).toEqual(["/usr/bin/tini", "--", "krond"]);
    expect(dockerfile).toMatch(/apt-get install -y --no-install-recommends tini\b/);
    expect(said("STOPSIGNAL")).toBe("SIGTERM");
    expect(said("USER")).toMatch(/^[1-9]\d*:[1-9]\d*$/);
    expect(dockerfile).toContain(`install -d -m 0700 -o 1000 -g 1000 ${said("VOLUME")}`);
  });

  test("every option is one that krond knows", () => {
    const [verb, ...rest] = JSON.parse(said("CMD")) as string[];
    expect(verb).toBe("start");
    for (const option of rest.filter((arg) => arg.startsWith("--"))) expect(options).toContain(option);
    expect(JSON.parse(said("HEALTHCHECK").replace(/^.*CMD /, ""))).toEqual(["krond", "status"]);
  });
});

describe("deploy/kubernetes/krond.yaml", () => {
  test("one daemon at a time, the old one gone before the new one comes", () => {
    expect(ofKind("Deployment")).toMatchObject({ spec: { replicas: 1, strategy: { type: "Recreate" } } });
    expect(ofKind("PersistentVolumeClaim")).toMatchObject({ spec: { accessModes: ["ReadWriteOnce"] } });
  });

  test("the terms are those of the restricted profile, and no token of the cluster is in the pod", () => {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        fsGroupChangePolicy: "OnRootMismatch",
        seccompProfile: { type: "RuntimeDefault" },
      },
    });
    expect(Number(at(pod, "securityContext", "runAsUser"))).toBeGreaterThan(0);
    expect(at(container, "securityContext")).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    expect(`${String(at(pod, "securityContext", "runAsUser"))}:`).toBe(said("USER").replace(/\d+$/, ""));
  });

  test("volumes are mounted where the arguments look, and the state lies inside one", () => {
    for (const option of args.filter((arg) => arg.startsWith("--"))) expect(options).toContain(option);
    const argumentOf = (option: string): string => args[args.indexOf(option) + 1] ?? "";
    const mounts = at(container, "volumeMounts") as readonly { name: string; mountPath: string }[];
    const volumes = at(pod, "volumes") as readonly Fields[];
    expect(mounts.map(({ name }) => name).sort()).toEqual(volumes.map(({ name }) => name).sort());
    const where = Object.fromEntries(mounts.map(({ name, mountPath }) => [name, mountPath]));
    expect(where).toMatchObject({
      jobs: argumentOf("--config"),
      state: path.dirname(argumentOf("--state")),
      tmp: "/tmp",
    });
    expect(at(volumes[0], "configMap", "name")).toBe(at(ofKind("ConfigMap"), "metadata", "name"));
    expect(at(volumes[1], "persistentVolumeClaim", "claimName")).toBe(
      at(ofKind("PersistentVolumeClaim"), "metadata", "name"),
    );
    expect(at(container, "env")).toEqual([{ name: "KRON_STATE", value: argumentOf("--state") }]);
    expect(at(container, "ports", 0, "containerPort")).toBe(Number(argumentOf("--metrics").split(":")[1]));
    const probes = ["startupProbe", "livenessProbe", "readinessProbe"].map((probe) =>
      at(container, probe, "httpGet", "path"),
    );
    expect(probes).toEqual(["/readyz", "/healthz", "/readyz"]);
  });

  const canMount = isRoot && spawnSync("unshare", ["-m", "true"]).status === 0;
  const NEEDS_MOUNT = canMount ? "" : ` (skipped: this needs to mount)${ROOT_ONLY}`;

  test.skipIf(!canMount)(
    `its arguments work as its user on a read-only root, with its jobs, and the probes answer${NEEDS_MOUNT}`,
    async () => {
      const root = newDirectory();
      fs.chmodSync(root, 0o755);
      const here = (name: string): string => path.join(root, name);
      for (const name of ["state", "jobs", "tmp"]) fs.mkdirSync(here(name), { mode: 0o755 });
      const user = Number(at(pod, "securityContext", "runAsUser"));
      const group = Number(at(pod, "securityContext", "fsGroup"));
      fs.chownSync(here("state"), 0, group);
      fs.chmodSync(here("state"), 0o2775);
      fs.chmodSync(here("tmp"), 0o1777);
      const files = at(ofKind("ConfigMap"), "data") as Readonly<Record<string, string>>;
      for (const [name, text] of Object.entries(files))
        fs.writeFileSync(path.join(here("jobs"), name), text, { mode: 0o644 });
      const places: Readonly<Record<string, string>> = {
        "/etc/krond.d": here("jobs"),
        "/state/krond": path.join(here("state"), "krond"),
        "0.0.0.0:9464": "127.0.0.1:0",
      };
      const script = [
        'for d in "$STATE" "$TMPDIR"; do mount --bind "$d" "$d" || exit 99; done',
        "mount -o remount,ro,bind / || exit 99",
        `exec setpriv --reuid=${user} --regid=${user} --groups=${group} --bounding-set=-all --inh-caps=-all --no-new-privs -- "$@"`,
      ].join("\n");
      const argv = [process.execPath, programs().krond, ...args.map((arg) => places[arg] ?? arg)];
      const child = spawn("unshare", ["-m", "sh", "-c", script, "sh", ...argv], {
        stdio: ["ignore", "pipe", "pipe"],
        env: { PATH: process.env["PATH"], STATE: here("state"), TMPDIR: here("tmp") },
      });
      const krond = new RunningKrond(child);
      try {
        const { metrics, jobs } = await krond.ready();
        expect(jobs).toBe(1);
        for (const probe of ["/healthz", "/readyz"]) {
          expect((await fetch(`http://${String(metrics)}${probe}`)).status).toBe(200);
        }
        const state = path.join(here("state"), "krond");
        expect([fs.statSync(state).uid, fs.statSync(state).mode & 0o777]).toEqual([user, 0o700]);
        const kron = [programs().kron, "run", "example/hello", "--state", state];
        expect(spawnSync(process.execPath, kron, { encoding: "utf8" })).toMatchObject({ status: 0 });
        await krond.event("completed", { identity: "example/hello", exit_code: 0 });
        expect(await krond.kill("SIGTERM")).toBe(0);
      } finally {
        await krond.kill();
      }
    },
  );
});
