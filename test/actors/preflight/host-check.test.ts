import { describe, expect, test } from "vitest";
import type { ProcessArm } from "../../../src/actors/launcher/port.js";
import { hostFindings } from "../../../src/actors/preflight/findings.js";
import { HostCheck, type HostCheckPorts } from "../../../src/actors/preflight/host-check.js";
import type { ArmFailure, ArmRequest } from "../../../src/actors/runner/port.js";
import { readJobDefinition } from "../../../src/core/job/schema.js";
import { requireOk } from "../../support/results.js";

type Answer = (request: ProcessArm) => ArmFailure | null;

/** A runner that only makes ready, and remembers what it was asked. */
function pretended(answer: Answer, more: Partial<HostCheckPorts> = {}) {
  const asked: ProcessArm[] = [];
  const open = new Set<string>();
  let ids = 0;
  const check = new HostCheck({
    runner: {
      arm: async (request: ArmRequest) => {
        if (request.kind !== "process") throw new Error("only processes are made ready");
        asked.push(request);
        const error = answer(request);
        if (error !== null) return { ok: false, error };
        open.add(request.attemptId);
        const { attemptId } = request;
        return { ok: true, value: { attemptId, holder: { kind: "process", pid: 1, startTicks: 1, bootId: "b" } } };
      },
      abort: async ({ attemptId }) => void open.delete(attemptId),
    },
    baseEnv: { PATH: "/bin" },
    env: {},
    sendmail: ["/usr/sbin/sendmail", "-t"],
    isStarter: true,
    now: () => 0,
    newId: () => `id-${++ids}`,
    ...more,
  });
  return { check, asked, open };
}

function jobOf(identity: string, more: Readonly<Record<string, unknown>> = {}) {
  const raw = { identity, schedule: "0 3 * * *", command: ["/bin/true", identity], ...more };
  return { definition: requireOk(readJobDefinition(raw)), file: "jobs.yaml", line: 3, column: 5 };
}

const refused: Answer = () => ({ code: "command-not-found", message: "the command was not found" });

describe("HostCheck", () => {
  test("who is to tell people is looked for too: sendmail, and the program of a command, each once", async () => {
    const { check, asked, open } = pretended(({ command }) => {
      const [name = ""] = command.kind === "argv" ? command.argv : [];
      return name.startsWith("/bin") ? null : { code: "command-not-found", message: "the command was not found" };
    });
    const notify = [
      { on: ["failure"], mail: "ops@example.org" },
      { on: ["missed"], command: ["/no/such", "secret"] },
      { on: ["missed"], command: ["/bin/true"] },
    ];
    const { findings } = await hostFindings([jobOf("t/a", { notify }), jobOf("t/b", { notify })], check, 100);
    const told = findings.map(({ located: { identity, problem } }) => [identity, problem.path, problem.message]);
    const each = (identity: string): unknown[] => [
      [identity, ["notify", 0, "mail"], "on this host, the command was not found: /usr/sbin/sendmail"],
      [identity, ["notify", 1, "command"], "on this host, the command was not found: /no/such"],
    ];
    expect(told).toEqual([...each("t/a"), ...each("t/b")]);
    expect(findings[0]?.located.problem.hint).toContain("notifications: { sendmail: [...] }");
    expect([asked.length, open.size]).toEqual([4, 0]);
  });

  test("what is to sign a request has to be a key, which is said where it stands", async () => {
    const env = {
      GOOD: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
      PLAIN: "any text",
      BAD: "whsec_!!!",
      EMPTY: "whsec_",
    };
    const { check } = pretended(() => null, { env });
    const jobs = Object.keys(env).map((name) => ({
      definition: requireOk(
        readJobDefinition({
          identity: name,
          schedule: "0 3 * * *",
          http: { url: "https://hooks.test/", signature: { secret_env: name } },
        }),
      ),
      file: "jobs.yaml",
      line: 3,
      column: 5,
    }));
    const { findings } = await hostFindings(jobs, check, 100);
    expect(findings.map(({ located: { identity, problem } }) => [identity, problem.path])).toEqual([
      ["BAD", ["http", "signature"]],
      ["EMPTY", ["http", "signature"]],
    ]);
    expect(findings[0]?.located.problem.message).toContain("the variable BAD is to sign the request and is no key");
  });

  test("each kind of job is looked at once, whatever its arguments; every gate is closed again", async () => {
    const { check, asked, open } = pretended(() => null);
    const jobs = Array.from({ length: 1_000 }, (_, index) => jobOf(`t/${index}`));
    const others = [
      jobOf("t/user", { user: "root" }),
      jobOf("t/cwd", { cwd: "/" }),
      jobOf("t/path", { env: { PATH: "/" } }),
    ];
    expect(await hostFindings([...jobs, ...others], check, 100)).toEqual({ findings: [], untold: 0 });
    expect(asked.map(({ user, cwd, env }) => [user, cwd, env["PATH"]])).toEqual([
      [null, null, "/bin"],
      ["root", null, "/bin"],
      [null, "/", "/bin"],
      [null, null, "/"],
    ]);
    expect(asked[0]).toMatchObject({
      command: { kind: "argv", argv: ["/bin/true"] },
      output: { to: "discard" },
      stdin: null,
    });
    expect(open.size).toBe(0);
  });

  test("what the host is short of for a moment says nothing about a job", async () => {
    const { check } = pretended(() => ({ code: "fork-failed", message: "EAGAIN" }));
    expect(await hostFindings([jobOf("t/a")], check, 100)).toEqual({ findings: [], untold: 1 });
  });

  test("kinds beyond the bound are not looked at, and counted; known ones still are", async () => {
    const { check, asked } = pretended(refused);
    const jobs = [jobOf("t/a"), jobOf("t/b", { cwd: "/" }), jobOf("t/c")];
    const { findings, untold } = await hostFindings(jobs, check, 1);
    expect([findings.map(({ located }) => located.identity), untold, asked.length]).toEqual([["t/a", "t/c"], 1, 1]);
  });

  test("who may not become the job's user says only what holds for everybody", async () => {
    const answer: Answer = ({ user, command }) => {
      if (user !== null) return { code: "privilege-drop-failed", message: "only root" };
      const name = command.kind === "argv" ? command.argv[0] : "";
      return name === "/bin/true" ? null : { code: "command-not-found", message: "the command was not found" };
    };
    const { check } = pretended(answer, { isStarter: false });
    const jobs = [
      jobOf("t/there", { user: "someone" }),
      jobOf("t/bare", { user: "someone", command: ["no-such"] }),
      jobOf("t/gone", { user: "someone", command: ["/no/such"] }),
      jobOf("t/hidden", { user: "someone", command: ["/etc/hostname-of-somebody/../passwd"] }),
      jobOf("t/unseen", { user: "someone", command: ["/etc/passwd"] }),
    ];
    const { findings, untold } = await hostFindings(jobs, check, 100);
    expect(findings.map(({ located }) => located.identity)).toEqual(["t/bare", "t/gone", "t/hidden"]);
    expect(untold).toBe(2);
  });
});
