/** The operator as a program of its own: how it starts, says it is ready, ends, and what it does not load. */
import { type ChildProcess, spawn } from "node:child_process";
import * as fs from "node:fs";
import * as path from "node:path";
import { afterEach, beforeEach, expect, inject, test } from "vitest";
import { ApiServer } from "../support/kube/api-server.js";
import { temporaryDirectories } from "../support/temporary.js";

const temporary = temporaryDirectories();
/** As this run has built it: what lies in dist may be older. */
const FOLDER = path.dirname(inject("programs").kron);
const PROGRAM = path.join(FOLDER, "kron-operator.js");
let server: ApiServer;
let kubeconfig: string;
const children: ChildProcess[] = [];

beforeEach(async () => {
  server = new ApiServer();
  await server.listen();
  kubeconfig = path.join(temporary(), "kubeconfig");
  fs.writeFileSync(kubeconfig, server.kubeconfig);
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill("SIGKILL");
  await server.close();
});

interface Ended {
  readonly exitCode: number | null;
  readonly out: string;
  readonly err: string;
}

function start(...options: readonly string[]): {
  readonly child: ChildProcess;
  readonly ended: Promise<Ended>;
  line(event: string): Promise<void>;
} {
  const args = [PROGRAM, "start", "--kubeconfig", kubeconfig, "--log-format", "json", ...options];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
  children.push(child);
  let [out, err] = ["", ""];
  let waiting: (() => void)[] = [];
  child.stdout?.on("data", (chunk: Buffer) => {
    out += chunk.toString();
    for (const next of waiting.splice(0)) next();
  });
  child.stderr?.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  const ended = new Promise<Ended>((done) => child.on("close", (exitCode) => done({ exitCode, out, err })));
  void ended.then(() => waiting.forEach((next) => void next()));
  const line = async (event: string): Promise<void> => {
    while (!out.includes(`"event":"${event}"`) && child.exitCode === null) {
      await new Promise<void>((done) => {
        waiting = [...waiting, done];
      });
    }
  };
  return { child, ended, line };
}

test("it starts, leads, and after SIGTERM gives the Lease back and exits 0", async () => {
  const { child, ended, line } = start();
  await line("leading");
  child.kill("SIGTERM");
  const { exitCode, out, err } = await ended;
  expect([exitCode, err]).toEqual([0, ""]);
  const events = out
    .trim()
    .split("\n")
    .map((text) => JSON.parse(text) as { readonly event: string });
  expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining(["started", "leading", "stopping"]));
  const lease = server.store.find("leases", "default", "kron-operator");
  expect(lease?.["spec"]).toMatchObject({ holderIdentity: "" });
});

/** It tries for ten seconds. */
test("without the CRD it exits 3, without a kubeconfig 2, each with what to do", { timeout: 60_000 }, async () => {
  server.faultOf = ({ resource }) =>
    resource.name === "kronjobs" ? { kind: "status", status: 404, reason: "NotFound" } : null;
  const missing = await start().ended;
  expect(missing.exitCode).toBe(3);
  expect(missing.err).toContain("kubectl apply -f deploy/operator/crd.yaml");
  fs.rmSync(kubeconfig);
  const unreadable = await start().ended;
  expect(unreadable.exitCode).toBe(2);
  expect(unreadable.err).toContain("cannot be read");
});

test("it loads no store and no threads: its files import neither lmdb nor piscina", () => {
  const seen = new Set<string>();
  const follow = (file: string): void => {
    if (seen.has(file)) return;
    seen.add(file);
    const text = fs.readFileSync(path.join(FOLDER, file), "utf8");
    expect(text).not.toMatch(/from ?"(?:lmdb|piscina|xstate)"/);
    for (const [, next = ""] of text.matchAll(/(?:from|import) ?"\.\/([^"]+)"/g)) follow(next);
  };
  follow("kron-operator.js");
  expect(seen.size).toBeGreaterThan(1);
});
