/** Every operation, asked of a real daemon and of the store that it leaves behind. */
import { describe, expect, test } from "vitest";
import { SETTINGS_DEFAULTS } from "../../src/core/config/settings.js";
import { ControlClient, ControlError } from "../../src/krond/control/client.js";
import { socketPathIn } from "../../src/krond/state/directory.js";
import { answerStored, readOperation } from "../../src/operations/answer.js";
import { OperationError } from "../../src/operations/operation.js";
import { StoredJobs } from "../../src/operations/records/stored-jobs.js";
import {
  OPERATIONS,
  type OperationName,
  type OperationRequest,
  operationNamed,
} from "../../src/operations/registry.js";
import { openStateReader } from "../../src/persist/open.js";
import type { StateReader } from "../../src/persist/store.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, NEVER, placesIn } from "../support/place.js";
import { requireOk } from "../support/results.js";
import { temporaryDirectories } from "../support/temporary.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

const HOUR_MS = 3_600_000;
const FILTER = { identities: [], standings: [], tags: [] };
const REFUSED_REQUEST = `  - { identity: t/web, schedule: "${NEVER}", http: { url: "http://127.0.0.1:1/" } }\n`;
const JOBS = `${job("t/good", "true")}${job("t/bad", "exit 7")}${job("t/long", "sleep 60")}${REFUSED_REQUEST}http: { allow: ["127.0.0.1"] }\n`;

/** Of a key that is made first, whatever its id turns out to be. */
const KEY = "aaaaaaaa";

/** In an order in which each of them has something to tell; the last one ends the daemon. */
const ASKED: readonly OperationRequest[] = [
  { op: "run", identity: "t/good" },
  { op: "run", identity: "t/bad" },
  { op: "run", identity: "t/web" },
  { op: "pause", identity: "t/bad", untilAt: Date.now() + HOUR_MS, reason: "test", catchUp: true },
  { op: "hint", identity: "t/good", intervalMs: 2 * HOUR_MS, nextRunAt: null, ttlMs: HOUR_MS, reason: "test" },
  { op: "hint", identity: "t/good", intervalMs: null, nextRunAt: Date.now() + HOUR_MS, ttlMs: null, reason: "" },
  { op: "status" },
  { op: "list", after: null, limit: 9, filter: FILTER },
  { op: "list", after: null, limit: 9, filter: { ...FILTER, isFailing: true }, sort: "failures", offset: 0 },
  { op: "plan", onThisHost: true },
  { op: "job", identity: "t/good" },
  { op: "now" },
  { op: "forecast" },
  { op: "forecast_who", at: Date.now() + HOUR_MS },
  { op: "definition", identity: "t/bad" },
  { op: "upcoming", identity: "t/good", count: 3 },
  { op: "explain", identity: "t/good" },
  { op: "log", identity: "t/bad" },
  { op: "reload" },
  { op: "chronicle" },
  { op: "hints", identity: "t/good" },
  { op: "history", identity: "t/web", limit: 9, beforeAt: null, decisions: true },
  { op: "history", identity: "t/bad", limit: 9, beforeAt: null, failed: true },
  { op: "history_of_all", cursor: null, limit: 99 },
  { op: "why", identity: "t/bad", periodAt: null, at: null },
  { op: "why", identity: "t/good", periodAt: Date.UTC(2026, 0, 1), at: null },
  { op: "run", identity: "t/long", ifIdle: true },
  { op: "cancel", identity: "t/long", periodAt: null },
  { op: "unhint", identity: "t/good", kind: "oneshot" },
  { op: "resume", identity: "t/bad" },
  { op: "keys.create", scope: "read", tenant: "acme", name: "dashboard" },
  { op: "keys.list", cursor: null, limit: 9 },
  { op: "keys.rotate", id: KEY },
  { op: "audit.host", cursor: null, limit: 9 },
  { op: "keys.revoke", id: KEY },
  { op: "login_link", scope: "read" },
  { op: "limits.set", tenant: "acme", endpoints: 10 },
  { op: "tenants.list", cursor: null, limit: 9 },
  { op: "stop", graceful: true },
];

const SETTING_UP = ASKED.slice(0, 6);
const LISTED = ASKED[7] as OperationRequest;

function ofStore(): readonly OperationRequest[] {
  return ASKED.filter(({ op }) => operationNamed(op)?.needs === "store");
}

async function answerOf(reader: StateReader, request: OperationRequest): Promise<unknown> {
  const { operation, input } = readOperation(request);
  if (operation.needs !== "store") throw new Error(`${operation.name} takes a daemon`);
  const unusable = (error: Error): never => {
    throw error;
  };
  return answerStored(operation, input, {
    reader,
    jobs: new StoredJobs(reader, Date.now, unusable),
    now: Date.now,
    ledger: () => SETTINGS_DEFAULTS.ledger,
    presence: () => "none",
    among: null,
    identities: () => ["t/good", "t/bad"],
  });
}

/** The answer, if it has the shape that is promised. */
function shaped(op: OperationName, answer: unknown): unknown {
  const read = operationNamed(op)?.output.safeParse(answer);
  expect({ op, answer, issues: read?.error?.issues ?? [] }).toEqual({ op, answer, issues: [] });
  return answer;
}

/** All that is on record, but that the daemon was alive. */
async function onRecord(directory: string): Promise<unknown> {
  const reader = requireOk(await openStateReader(directory));
  try {
    const documents: unknown[] = [];
    for await (const entries of reader.jobs()) documents.push(...entries);
    const ledger = await reader.ledgerScan(null, 1_000);
    return { documents, ledger };
  } finally {
    await reader.close();
  }
}

describe("the operations", () => {
  test("each has a name of its own, says what it does, and is asked here", () => {
    const names = OPERATIONS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    // Of tenants they are asked in a place of their own.
    const ofHost = OPERATIONS.filter(({ of }) => of === "host");
    expect(new Set(ASKED.map(({ op }) => op))).toEqual(new Set(ofHost.map(({ name }) => name)));
    expect(OPERATIONS.filter(({ summary }) => !/^[a-z]/.test(summary))).toEqual([]);
    // Whoever may only read can neither begin nor end anything.
    const reading = ofHost.filter(({ access }) => access === "read").map(({ name }) => name);
    expect(reading).toEqual([
      "status",
      "chronicle",
      "now",
      "forecast",
      "forecast_who",
      "list",
      "job",
      "definition",
      "upcoming",
      "explain",
      "plan",
      "hints",
      "history",
      "history_of_all",
      "why",
    ]);
  });

  test("what a daemon answers has the promised shape, and reading changes nothing on record", async () => {
    const here = place(JOBS);
    const krond = startKrond(here.config, here.state, ["--web", "127.0.0.1:0"]);
    await krond.ready();
    const client = await ControlClient.connect(socketPathIn(here.state));
    if (client === null) throw new Error("no daemon");
    const answers = new Map<OperationRequest, unknown>();
    for (const request of SETTING_UP) answers.set(request, shaped(request.op, await client.ask(request)));
    for (const identity of ["t/good", "t/bad", "t/web"]) await krond.event("completed", { identity });
    const reading = ASKED.filter(({ op }) => operationNamed(op)?.access === "read");
    const before = await onRecord(here.state);
    for (const request of reading) answers.set(request, shaped(request.op, await client.ask(request)));
    expect(await onRecord(here.state)).toEqual(before);
    const listed = answers.get(LISTED) as { readonly rows: readonly { lastRun: unknown }[] };
    expect(listed.rows.filter(({ lastRun }) => lastRun !== null)).toHaveLength(3);
    let keyId = KEY;
    for (const request of ASKED.slice(0, -1)) {
      if (answers.has(request)) continue;
      const asked = "id" in request ? { ...request, id: keyId } : request;
      const answer = shaped(request.op, await client.ask(asked));
      if (request.op === "keys.create") keyId = (answer as { readonly id: string }).id;
      // With a run under way, and without one again.
      shaped("list", await client.ask(LISTED));
    }
    const [stop = { op: "status" }] = ASKED.slice(-1);
    const isEnded = await client.ask(stop).then(
      () => true,
      (error: unknown) => error instanceof ControlError && error.kind === "no-answer",
    );
    expect(isEnded).toBe(true);
    await client.ended;
  });

  test("without a daemon those that only read say the same of what is on record", async () => {
    const here = place(JOBS);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const client = await ControlClient.connect(socketPathIn(here.state));
    if (client === null) throw new Error("no daemon");
    for (const request of SETTING_UP) await client.ask(request);
    for (const identity of ["t/good", "t/bad", "t/web"]) await krond.event("completed", { identity });
    const live = new Map<OperationRequest, unknown>();
    for (const request of ofStore()) live.set(request, await client.ask(request));
    client.close();
    await krond.kill("SIGTERM");
    const reader = requireOk(await openStateReader(here.state));
    try {
      for (const [request, answer] of live) {
        expect(JSON.parse(JSON.stringify(shaped(request.op, await answerOf(reader, request))))).toEqual(answer);
      }
      const unknown = { op: "history", identity: "t/goos", limit: 1, beforeAt: null } as const;
      const refused = await answerOf(reader, unknown).catch((error: unknown) => error);
      expect(refused).toEqual(new OperationError("not-found", 'no job "t/goos"', 'did you mean "t/good"?'));
    } finally {
      await reader.close();
    }
  });

  test.each<readonly [string, unknown, string, readonly string[]]>([
    ["no object", 7, "request: not an object", []],
    ["nothing that is known", { op: "fly" }, "request.op: no such operation", []],
    ["a name that every object has", { op: "constructor" }, "request.op: no such operation", []],
    ["a field too many", { op: "status", now: true }, 'request: unknown field "now"', ["now"]],
    ["a field too few", { op: "hints" }, 'request.identity: missing field "identity"', ["identity"]],
    ["several of them", { op: "hints", now: true }, 'request.identity: missing field "identity"', ["identity", "now"]],
  ])("%s is a bad request, told at its fields", (_title, request, message, fields) => {
    const read = (): unknown => readOperation(request);
    expect(read).toThrow(OperationError);
    expect(read).toThrow(expect.objectContaining({ kind: "bad-request", message }));
    expect(read).toThrow(
      expect.objectContaining({ problems: fields.map((field) => expect.objectContaining({ path: [field] })) }),
    );
  });
});
