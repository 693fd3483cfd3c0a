import { describe, expect, test } from "vitest";
import type { JobPage, JobQuery, JobStatus } from "../../src/actors/supervisor/port.js";
import { ALL_JOBS, type ListFilter } from "../../src/actors/supervisor/rows/job-query.js";
import { foundBy, type Wish } from "../../src/cli/list/pages.js";
import { type ControlClient, ControlError } from "../../src/krond/control/client.js";
import { readRequest } from "../../src/krond/control/protocol.js";
import { LIST } from "../../src/operations/jobs/list.js";
import { ListJudge } from "../../src/operations/jobs/list-judge.js";
import { OPERATION_LIMITS } from "../../src/operations/limits.js";
import type { Reading } from "../../src/operations/ports.js";
import type { OperationRequest } from "../../src/operations/registry.js";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";

const READER = {
  newestVersion: async (identity: string) => {
    const tags = identity.endsWith("7") ? ["lucky", "all"] : ["all"];
    return { identity, definedAt: 0, text: JSON.stringify({ tags }), isIntact: true };
  },
};

function status(identity: string): JobStatus {
  const standing = identity.endsWith("3") ? "paused" : "enabled";
  return { identity, standing } as JobStatus;
}

function numbered(count: number, prefix = "job/"): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(6, "0")}`);
}

describe("which jobs of a store are listed", () => {
  test.each<[string, Partial<ListFilter>, readonly string[]]>([
    ["by identity", { identities: ["*5", "job/000001"] }, ["job/000001", "job/000005", "job/000015"]],
    ["by a part of it", { search: "00001" }, ["job/000001", ...numbered(20).slice(10)]],
    ["by standing", { standings: ["paused"] }, ["job/000003", "job/000013"]],
    ["by tag", { tags: ["lucky", "none"] }, ["job/000007", "job/000017"]],
    ["by all of them", { identities: ["*1?"], tags: ["all"], standings: ["paused"] }, ["job/000013"]],
    ["by what nobody is", { standings: ["suspended"] }, []],
  ])("%s", async (_title, filter, expected) => {
    const judge = new ListJudge({ ...ALL_JOBS, ...filter }, READER);
    expect((await judge.wanted(numbered(20).map(status))).map(({ identity }) => identity)).toEqual(expected);
  });
});

describe("a request for a list", () => {
  type ListRequest = Omit<Extract<OperationRequest, { op: "list" }>, "op">;
  const PLAIN: ListRequest = { after: null, limit: 1, filter: ALL_JOBS };

  test.each<[string, Partial<ListRequest>, Omit<JobQuery, "filter" | "limit">]>([
    ["as it always was", { after: "a" }, { order: { sort: "name", isReversed: false }, from: { after: "a" } }],
    ["an offset", { offset: 0 }, { order: { sort: "name", isReversed: false }, from: { offset: 0 } }],
    [
      "in another order",
      { offset: 7, sort: "next", reverse: true },
      { order: { sort: "next", isReversed: true }, from: { offset: 7 } },
    ],
  ])("%s", async (_title, change, expected) => {
    const asked: JobQuery[] = [];
    const find = async (query: JobQuery): Promise<JobPage> => {
      asked.push(query);
      return { rows: [], total: 0, next: null };
    };
    const request = { ...PLAIN, ...change };
    const read = readRequest(JSON.stringify({ id: 1, request: { op: "list", ...request } }));
    expect(read.ok && read.asked).toEqual({ operation: LIST, input: request });
    await LIST.run(request, { jobs: { find } } as unknown as Reading);
    expect(asked).toEqual([{ filter: ALL_JOBS, limit: 1, ...expected }]);
  });

  test.each([
    ["too many rows", { limit: OPERATION_LIMITS.listRows + 1 }],
    ["an unknown standing", { filter: { identities: [], standings: ["lazy"], tags: [] } }],
    ["too many words", { filter: { identities: Array(65).fill("a"), standings: [], tags: [] } }],
    ["an order that takes reading", { sort: "last", offset: 0 }],
    ["less than nothing", { offset: -1 }],
  ])("for %s is refused", (_title, change) => {
    const request = { op: "list", ...PLAIN, ...change };
    expect(readRequest(JSON.stringify({ id: 1, request })).ok).toBe(false);
  });

  const WISH: Wish = { filter: ALL_JOBS, sort: "next", isReversed: false, offset: 0, count: 5 };

  test("a daemon that was started before an update is asked in the old way", async () => {
    const ask = () => Promise.reject(new ControlError("bad-request", "unrecognized key"));
    expect(await foundBy({ ask } as unknown as ControlClient, WISH)).toBeNull();
    const fail = () => Promise.reject(new ControlError("failed", "no"));
    await expect(foundBy({ ask: fail } as unknown as ControlClient, WISH)).rejects.toThrow("no");
  });
});

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

describe("kron list", () => {
  const all = numbered(503, "t/");
  const jobs = all.map((identity) => job(identity, "true", identity.endsWith("7") ? ", tags: [lucky]" : "")).join("");
  const identitiesOf = (json: string): string[] => (JSON.parse(json) as JobStatus[]).map(({ identity }) => identity);

  test("more jobs than a page holds: the same list in every form, from the daemon and from the store", async () => {
    const here = place(jobs);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const forms = (): unknown[] => {
      const json = here.kron("list", "-o", "json").out;
      expect(json).toBe(`${JSON.stringify(JSON.parse(json), null, 2)}\n`);
      const lines = here.kron("list", "-o", "jsonl").out.trimEnd().split("\n");
      const text = here.kron("list").out.split("\n");
      const named = text.filter((line) => line.startsWith("t/")).map((line) => line.split(" ")[0]);
      return [identitiesOf(json), identitiesOf(`[${lines.join(",")}]`), named];
    };
    expect(forms()).toEqual([all, all, all]);
    await krond.kill("SIGTERM");
    expect(forms()).toEqual([all, all, all]);
  });

  test("filters and a count, from the daemon and from the store", async () => {
    const here = place(jobs);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("pause", "t/000003", "--until", "1h", "--reason", "x");
    const filtered = (): unknown[] =>
      ["--identity t/00000? --tag lucky", "t/00000? --tag lucky", "--standing paused", "-n 2", "x"].map((line) =>
        identitiesOf(here.kron("list", ...line.split(" "), "-o", "json").out),
      );
    const expected = [["t/000007"], ["t/000007"], ["t/000003"], ["t/000000", "t/000001"], []];
    expect(filtered()).toEqual(expected);
    await krond.kill("SIGTERM");
    expect(filtered()).toEqual(expected);
    expect(here.kron("list", "--standing", "lazy").status).toBe(1);
    expect(here.kron("list", "--outcome", "odd").err).toContain('--outcome: "odd" is not one of executed, skipped,');
  });

  test("orders, parts and how many there are: one answer, from the daemon and from the store", async () => {
    const here = place(jobs);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    const asked = (...lines: readonly string[]): unknown[] =>
      lines.map((line) => {
        const { out } = here.kron("list", ...line.split(" "));
        const rows = out.split("\n").filter((row) => row.startsWith("t/"));
        return [rows.map((row) => row.split(" ")[0]), /^\S+ of .* jobs$/m.exec(out)?.[0] ?? null];
      });
    const lines = [
      "-n 2 --offset 501",
      "--search 01 -n 2 --sort next",
      "-n 2 --reverse",
      "--identity t/00000? --sort failures --reverse --offset 8 -n 9",
      "--identity t/00000? --offset 20",
      "--sort duration -n 1",
      "--sort lateness --reverse -n 1",
      "--outcome missed,skipped -n 1",
      "--search t/00050 -n 3",
    ];
    const expected = [
      [["t/000501", "t/000502"], "502-503 of 503 jobs"],
      [["t/000001", "t/000010"], "1-2 of 115 jobs"],
      [["t/000502", "t/000501"], "1-2 of 503 jobs"],
      [["t/000008", "t/000009"], "9-10 of 10 jobs"],
      [[], "none of 10 jobs"],
      [["t/000000"], "1-1 of 503 jobs"],
      [["t/000000"], "1-1 of 503 jobs"],
      [[], null],
      [["t/000500", "t/000501", "t/000502"], null],
    ];
    expect(asked(...lines)).toEqual(expected);
    await krond.kill("SIGTERM");
    expect(asked(...lines)).toEqual(expected);
  });
});
