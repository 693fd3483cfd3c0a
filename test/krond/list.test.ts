import { describe, expect, it, test } from "vitest";
import type { JobStatus, ListOptions } from "../../src/actors/supervisor/port.js";
import type { JobLister } from "../../src/krond/control/job-pages.js";
import { ALL_JOBS, type ListFilter, literalPrefix } from "../../src/krond/control/list-filter.js";
import { LIST_LIMITS, listPage } from "../../src/krond/control/list-request.js";
import { readRequest } from "../../src/krond/control/protocol.js";
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

/** Pages as the supervisor does, and remembers what it was asked. */
class Jobs implements JobLister {
  readonly asked: ListOptions[] = [];

  constructor(private readonly identities: readonly string[]) {}

  async list(options: ListOptions = {}): Promise<readonly JobStatus[]> {
    this.asked.push(options);
    const behind = this.identities.filter((it) => options.afterIdentity === undefined || it > options.afterIdentity);
    return behind.slice(0, options.limit).map(status);
  }
}

function numbered(count: number, prefix = "job/"): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(index).padStart(6, "0")}`);
}

async function allOf(jobs: Jobs, filter: ListFilter, limit: number = LIST_LIMITS.rows): Promise<readonly string[][]> {
  const pages: string[][] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof listPage>> = await listPage(jobs, READER, { after, limit, filter });
    pages.push(page.rows.map(({ identity }) => identity));
    after = page.next;
  } while (after !== null);
  return pages;
}

describe("a list of very many jobs", () => {
  test.each([0, 1, 499, 500, 501, 1_000, 12_345])(
    "%i jobs: every one once, in pages that have a bound",
    async (count) => {
      const pages = await allOf(new Jobs(numbered(count)), ALL_JOBS);
      expect(pages.flat()).toEqual(numbered(count));
      expect(Math.max(...pages.map(({ length }) => length))).toBeLessThanOrEqual(LIST_LIMITS.rows);
    },
  );

  test("an answer costs a bounded number of jobs, whatever it finds", async () => {
    const jobs = new Jobs(numbered(20_000));
    const filter = { ...ALL_JOBS, identities: ["*019999"] };
    const first = await listPage(jobs, READER, { after: null, limit: 10, filter });
    expect([first.rows.length, first.next]).toEqual([0, "job/004999"]);
    expect((await allOf(jobs, filter)).flat()).toEqual(["job/019999"]);
  });

  test("a pattern that begins with words looks only where they are", async () => {
    const jobs = new Jobs([...numbered(30_000, "a/"), "prod", "prod/a", "prod/b", "prodx", ...numbered(30_000, "z/")]);
    expect(await allOf(jobs, { ...ALL_JOBS, identities: ["prod*"] })).toEqual([["prod", "prod/a", "prod/b", "prodx"]]);
    expect(jobs.asked).toHaveLength(1);
    expect((await allOf(jobs, { ...ALL_JOBS, identities: ["prod/a", "prod/b"] })).flat()).toEqual(["prod/a", "prod/b"]);
  });

  test.each<[string, Partial<ListFilter>, readonly string[]]>([
    ["by identity", { identities: ["*5", "job/000001"] }, ["job/000001", "job/000005", "job/000015"]],
    ["by standing", { standings: ["paused"] }, ["job/000003", "job/000013"]],
    ["by tag", { tags: ["lucky", "none"] }, ["job/000007", "job/000017"]],
    ["by all of them", { identities: ["*1?"], tags: ["all"], standings: ["paused"] }, ["job/000013"]],
    ["by what nobody is", { standings: ["suspended"] }, []],
  ])("%s", async (_title, filter, expected) => {
    expect((await allOf(new Jobs(numbered(20)), { ...ALL_JOBS, ...filter }, 2)).flat()).toEqual(expected);
  });

  test.each([
    [["a/*"], "a/"],
    [["prod/größe*"], "prod/gr"],
    [["a/b", "a/c"], "a/"],
    [["a", "b"], ""],
    [["*"], ""],
    [[], ""],
  ])("%j begin with %j", (patterns, expected) => {
    expect(literalPrefix(patterns)).toBe(expected);
  });

  test.each([
    ["too many rows", { limit: LIST_LIMITS.rows + 1 }],
    ["an unknown standing", { filter: { identities: [], standings: ["lazy"], tags: [] } }],
    ["too many words", { filter: { identities: Array(65).fill("a"), standings: [], tags: [] } }],
  ])("a request for %s is refused", (_title, change) => {
    const request = { op: "list", after: null, limit: 1, filter: ALL_JOBS, ...change };
    expect(readRequest(JSON.stringify({ id: 1, request })).ok).toBe(false);
  });
});

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);

describe("kron list", () => {
  const all = numbered(503, "t/");
  const jobs = all.map((identity) => job(identity, "true", identity.endsWith("7") ? ", tags: [lucky]" : "")).join("");
  const identitiesOf = (json: string): string[] => (JSON.parse(json) as JobStatus[]).map(({ identity }) => identity);

  it("more jobs than a page holds: the same list in every form, from the daemon and from the store", async () => {
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

  it("filters and a count, from the daemon and from the store", async () => {
    const here = place(jobs);
    const krond = startKrond(here.config, here.state);
    await krond.ready();
    here.kron("pause", "t/000003", "--until", "1h", "--reason", "x");
    const filtered = (): unknown[] =>
      ["--identity t/00000? --tag lucky", "--standing paused", "-n 2", "--identity x"].map((line) =>
        identitiesOf(here.kron("list", ...line.split(" "), "-o", "json").out),
      );
    const expected = [["t/000007"], ["t/000003"], ["t/000000", "t/000001"], []];
    expect(filtered()).toEqual(expected);
    await krond.kill("SIGTERM");
    expect(filtered()).toEqual(expected);
    expect(here.kron("list", "--standing", "lazy").status).toBe(1);
  });
});
