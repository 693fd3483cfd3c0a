import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { builtPrograms, krondProcesses, runProgram } from "../support/krond.js";
import { NEVER, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const newDirectory = temporaryDirectories();
const place = placesIn(newDirectory, programs);

const CANARY = "canary-0nh0st";

function job(name: string, fields: string): string {
  return `  - { identity: t/${name}, schedule: "${NEVER}", policy: { deadline: 1h }, ${fields} }\n`;
}

/** One job for each way not to be startable, one that is sound, and one of which nothing is asked. */
function faulty(root: string): string {
  const [program, envFile, ca] = ["own", "bad.env", "ca.pem"].map((name) => path.join(root, name)) as [
    string,
    string,
    string,
  ];
  const touched = path.join(root, "touched");
  fs.writeFileSync(program, `#!/bin/sh\ntouch ${touched}\n`, { mode: 0o755 });
  fs.writeFileSync(envFile, `GOOD=1\nthis is ${CANARY}\n`, { mode: 0o600 });
  fs.writeFileSync(ca, "no certificate", { mode: 0o600 });
  return [
    job("sound", `command: [own, x], env: { PATH: "${root}" }`),
    job("shell", `shell: true, command: "touch ${touched}"`),
    job("missing", `command: [no-such-program, ${CANARY}]`),
    job("own-path", `command: [ls], env: { PATH: "${root}" }`),
    job("denied", "command: [/etc/passwd]"),
    job("user", "command: [/bin/true], user: no-such-user"),
    job("group", "command: [/bin/true], group: no-such-group"),
    job("cwd", `command: [/bin/true], cwd: "${root}/none"`),
    job("env-gone", `command: [/bin/true], env_file: "${root}/none.env"`),
    job("env-bad", `command: [/bin/true], env_file: "${envFile}"`),
    job("ca-gone", `http: { url: "https://example.org/", ca_file: "${root}/none.pem" }`),
    job("ca-bad", `http: { url: "https://example.org/", client_cert_file: "${ca}", client_key_file: "${ca}" }`),
    job("asleep", "command: [no-such-program], policy: { suspend: true }").replace(" policy: { deadline: 1h },", ""),
  ].join("");
}

const FOUND = [
  ["t/missing", "command-not-found", "on this host, the command was not found: no-such-program"],
  ["t/own-path", "command-not-found", "on this host, the command was not found: ls"],
  ["t/denied", "command-not-executable", expect.stringContaining(": /etc/passwd")],
  ["t/user", "user-unknown", "on this host, there is no user no-such-user"],
  ["t/group", "user-unknown", "on this host, there is no group no-such-group"],
  ["t/cwd", "cwd-unusable", expect.stringContaining('/none"')],
  ["t/env-gone", "secret-unreadable", expect.stringContaining("/none.env cannot be read: ENOENT")],
  ["t/env-bad", "secret-unreadable", expect.stringContaining("/bad.env:2: expected NAME=value")],
  ["t/ca-gone", "secret-unreadable", expect.stringContaining("/none.pem cannot be read: ENOENT")],
  ["t/ca-bad", "secret-unreadable", expect.stringContaining("the certificates cannot be used")],
] as const;

interface Finding {
  readonly identity: string;
  readonly code: string;
  readonly message: string;
  readonly hint: string;
  readonly line: number;
  readonly path: readonly (string | number)[];
  readonly column: number;
  readonly length: number;
}

/** Which field each of FOUND is about, and how it is written. */
const FIELDS: readonly (readonly [path: string, written: string])[] = [
  ["command.0", "no-such-program"],
  ["command.0", "ls"],
  ["command.0", "/etc/passwd"],
  ["user", "no-such-user"],
  ["group", "no-such-group"],
  ["cwd", '/none"'],
  ["env_file.0", '/none.env"'],
  ["env_file.0", '/bad.env"'],
  ["http.ca_file", '/none.pem"'],
  ["http.client_cert_file", '/ca.pem"'],
];

describe("kron lint --on-this-host", () => {
  test("S24: every job that could not be started, with its place and what to do; nothing runs, nothing is made", () => {
    const root = newDirectory();
    fs.chmodSync(root, 0o755);
    const config = path.join(root, "jobs.yaml");
    fs.writeFileSync(config, `jobs:\n${faulty(root)}`);
    const before = fs.readdirSync(root);
    const plain = runProgram(programs().kron, ["lint", config]);
    const host = runProgram(programs().kron, ["lint", "--on-this-host", "-o", "json", config]);
    expect(plain.status).toBe(0);
    expect(host.status).toBe(2);
    const { errors } = JSON.parse(host.out) as { readonly errors: readonly Finding[] };
    expect(errors.map(({ identity, code, message }) => [identity, code, message])).toEqual(FOUND);
    expect(errors.map(({ line }) => line)).toEqual([4, 5, 6, 7, 8, 9, 10, 11, 12, 13]);
    expect(errors.every(({ hint }) => hint.length > 0)).toBe(true);
    const lines = fs.readFileSync(config, "utf8").split("\n");
    const written = errors.map(({ path: field, line, column, length }) => {
      return [field.join("."), (lines[line - 1] ?? "").slice(column - 1, column - 1 + length)];
    });
    expect(written).toEqual(FIELDS.map(([field, text]) => [field, expect.stringMatching(new RegExp(`${text}$`))]));
    expect(host.out).not.toContain(CANARY);
    expect(fs.readdirSync(root)).toEqual(before);
  });

  test("what only the daemon's own surroundings can tell is no error, and is counted", () => {
    const root = newDirectory();
    const config = path.join(root, "jobs.yaml");
    const secret = 'http: { url: "https://example.org/", header_env: { X-Key: NO_SUCH_VARIABLE } }';
    fs.writeFileSync(config, `jobs:\n${job("secret", secret)}`);
    const { status, out } = runProgram(programs().kron, ["lint", "--on-this-host", config]);
    expect([status, out]).toEqual([0, expect.stringContaining("of 1 job it cannot be told from here")]);
  });
});

describe("krond", () => {
  test("a start and a reload tell of each job once they answer, and refuse nothing; plan lists them with places", async () => {
    const here = place("");
    fs.chmodSync(here.root, 0o755);
    here.write(faulty(here.root));
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    for (const [identity, error_code] of FOUND) await krond.event("not_startable", { identity, error_code });
    const told = krond.lines.filter(({ event }) => event === "not_startable");
    expect(told.map(({ level }) => level)).toEqual(FOUND.map(() => "warn"));
    expect(krond.lines.findIndex(({ event }) => event === "ready")).toBeLessThan(krond.lines.indexOf(told[0] ?? {}));

    const plan = here.kron("plan", "--on-this-host");
    expect(plan.status).toBe(2);
    expect(plan.out).toContain(`jobs.yaml:6:`);
    expect(plan.out).toContain("t/missing: on this host, the command was not found: no-such-program (it is looked up");
    expect(here.kron("plan").status).toBe(0);

    const from = krond.lines.length;
    here.write(job("later", "command: [not-here-either]"));
    expect(here.krond("reload").status).toBe(0);
    await krond.event("not_startable", { identity: "t/later" }, from);
    expect(fs.existsSync(path.join(here.root, "touched"))).toBe(false);
    expect(JSON.stringify(krond.lines) + plan.out + krond.stderr).not.toContain(CANARY);
  });

  test("jobs beyond the first twenty are counted", async () => {
    const jobs = Array.from({ length: 25 }, (_, index) => job(`none-${index}`, "command: [no-such-program]"));
    const here = place(jobs.join(""));
    const krond = startKrond(here.config, here.state);
    const sum = await krond.line(({ event, jobs }) => event === "not_startable" && jobs === 25);
    expect(sum).toMatchObject({ level: "warn", untold: 5, not_looked_at: 0 });
    expect(krond.lines.filter(({ event }) => event === "not_startable")).toHaveLength(21);
  });
});
