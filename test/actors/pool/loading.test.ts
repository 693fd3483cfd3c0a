import * as fs from "node:fs";
import * as path from "node:path";
import fc from "fast-check";
import { beforeEach, describe, expect, test } from "vitest";
import { type Configuration, loadConfiguration } from "../../../src/actors/pool/load/configuration.js";
import type { DefinitionSet } from "../../../src/actors/pool/load/definition-set.js";
import { parseManifest } from "../../../src/actors/pool/load/manifest.js";
import type { DecisionPool, LoadedConfiguration, LoadOptions, PoolLimits } from "../../../src/actors/pool/types.js";
import { readConfigText } from "../../../src/core/config/readers.js";
import { contentHashOf } from "../../../src/core/job/content-hash.js";
import { canonicalDefinitionText } from "../../../src/core/job/schema.js";
import type { ConfigCheck, ConfigSource } from "../../../src/persist/config-files.js";
import { rawJobs } from "../../support/raw-jobs.js";
import { temporaryDirectories } from "../../support/temporary.js";
import { pools } from "./support/pools.js";
import { builtWorker } from "./support/worker.js";

const worker = builtWorker();
const newPool = pools(worker.entry);
const newDirectory = temporaryDirectories();
const ROOT = path.resolve(import.meta.dirname, "../../..");

/** So small that most lines are cut. */
const TINY: Partial<PoolLimits> = { inlineFileBytes: -1, pieceBytes: 100 };

let directory: string;
beforeEach(() => {
  directory = newDirectory();
});

/** Files by name, in a directory; the source is the directory. */
function written(files: Readonly<Record<string, string | Uint8Array>>, at = directory): ConfigSource {
  for (const [name, content] of Object.entries(files)) fs.writeFileSync(path.join(at, name), content);
  return { path: at, name: "conf" };
}

function requireJob({ jobs: [job] }: Configuration): Configuration["jobs"][number] {
  if (job === undefined) throw new Error("there is no job");
  return job;
}

type Loaded = LoadedConfiguration & { readonly set: DefinitionSet };

async function loaded(
  pool: DecisionPool,
  sources: readonly ConfigSource[],
  options: LoadOptions = {},
): Promise<Loaded> {
  const read = await pool.load(sources, options);
  if (read.definitions === null) throw new Error("nothing was read");
  return { ...read, set: read.definitions };
}

type Content = Readonly<Record<string, unknown>>;

function contentOf({ set, files, settings, findings, crontabs }: Loaded): Content {
  const jobs = Array.from({ length: set.size }, (_, index) => {
    const definition = set.definitionAt(index);
    expect(set.textAt(index)).toBe(canonicalDefinitionText(definition));
    expect(set.contentHashAt(index)).toEqual(contentHashOf(set.textAt(index)));
    expect(set.indexOf(set.identityAt(index))).toBe(index);
    expect(set.identityAt(index)).toBe(definition.identity);
    expect(set.targetKindAt(index)).toBe(definition.target.kind);
    return { definition, ...set.placeAt(index) };
  });
  return { files, settings, findings, crontabs, jobs };
}

/** What commands get: no threads, larger pieces, and the jobs as they were read. */
async function wanted(sources: readonly ConfigSource[], check: ConfigCheck | null = null): Promise<Content> {
  const { fingerprints, ...content } = await loadConfiguration(sources, check);
  return content;
}

const line = (identity: string, more = {}): string =>
  JSON.stringify({ identity, schedule: "0 3 * * *", command: ["/bin/true"], ...more });
const kronLine = (identity: string): string => `*/5 * * * * /bin/true -- ${identity}`;
const FIXTURES = ["test/cli/files", "examples/krond.yaml", "examples/forecast", "examples/jobs.kron"];

const BROKEN = [
  line("a"),
  "",
  "{",
  "\u00e9\u{1f600}",
  line("ä“ \\ \u2028"),
  line("a"),
  line("b", { schedule: "99 * * * *" }),
  `   ${line("c")}`,
  line("d", { nothing: 1 }),
  "x".repeat(300),
];

describe("loading a configuration in pieces", () => {
  test.each([0, 2])("is what commands get: examples and fixtures (threads: %i)", async (threads) => {
    const pool = newPool({ threads, limits: TINY });
    const sources = FIXTURES.map((name) => ({ path: path.join(ROOT, name), name }));
    const content = contentOf(await loaded(pool, sources));
    expect(content).toEqual(await wanted(sources));
    expect((content["jobs"] as unknown[]).length).toBeGreaterThan(20);
    expect((content["findings"] as unknown[]).length).toBeGreaterThan(5);
  });

  test.each([0, 2])(
    "S37, S35: repeats over all files, and every finding at its place (threads: %i)",
    async (threads) => {
      const yaml = `jobs:\n- { identity: y, schedule: "0 1 * * *", command: [x] }\n- { identity: a, schedule: "0 1 * * *", command: [x] }\n`;
      const source = written({
        "1.jsonl": `\ufeff${BROKEN.join("\n")}`,
        "2.jsonl": `${[line("e"), line("c"), "}", line("e")].join("\r\n")}\r\n`,
        "3.yaml": `${yaml}history: { keep: 3 }\n`,
        "4.yml": `history: { keep: 4 }\nunknown: 1\n${yaml}`,
        "5.kron": [kronLine("k"), "# note", "bad", kronLine("k")].join("\n"),
        "6.jsonl": "",
        "7.jsonl": "\n\n\n",
        "8.yaml": "jobs: [",
        "9.txt": "nothing",
        ".hidden.jsonl": "{",
        "z.jsonl": new Uint8Array([0xff, 0xfe, 0x0a, 0xc3, 0x0a, 0x7b]),
      });
      const missing = { path: path.join(directory, "missing.yaml"), name: "missing.yaml" };
      const foreign = { path: path.join(directory, "9.txt"), name: "9.txt" };
      const pool = newPool({ threads, limits: TINY });
      for (const sources of [
        [source, missing, foreign],
        [missing, source, source],
      ]) {
        const content = contentOf(await loaded(pool, sources));
        expect(content).toEqual(await wanted(sources));
      }
    },
  );

  test.each([0, 1])("crontabs, line by line (threads: %i)", async (threads) => {
    const text =
      'MAILTO=x\n# daily\n0 3 * * * /bin/backup "a b"\n99 * * * * bad\n@later x\n@reboot x\n0 3 * * * /bin/backup "a b"\n';
    written({ tab: text });
    const rules = { form: "user", timezone: "Europe/Berlin", owner: null } as const;
    const sources = [{ path: path.join(directory, "tab"), name: "tab", crontab: rules }];
    const pool = newPool({ threads, limits: TINY });
    expect(contentOf(await loaded(pool, sources))).toEqual(await wanted(sources));
    expect((await pool.load(sources)).manifest).toBeNull();
  });

  test("any lines in any pieces", async () => {
    const lines = fc.array(
      fc.oneof(
        fc.constantFrom(...BROKEN),
        rawJobs.map((raw) => JSON.stringify(raw)),
      ),
      {
        maxLength: 30,
      },
    );
    const ends = fc.constantFrom("", "\n", "\r\n", "\n\n");
    await fc.assert(
      fc.asyncProperty(lines, ends, fc.integer({ min: 1, max: 3_000 }), async (texts, end, pieceBytes) => {
        const text = texts.join("\n") + end;
        const source = written({ "a.jsonl": text });
        const pool = newPool({ threads: 0, limits: { ...TINY, pieceBytes } });
        const read = await loaded(pool, [source]);
        expect(contentOf(read)).toEqual(await wanted([source]));
        const own = read.findings.filter(({ located }) => located.problem.code !== "identity-duplicate");
        expect(own.map(({ located }) => located)).toEqual(readConfigText("jsonl", "conf/a.jsonl", text).problems);
      }),
      { numRuns: 60, seed: 20261118 },
    );
  });

  test("in threads any lines in any pieces as well", async () => {
    const source = written({ "a.jsonl": Array.from({ length: 200 }, (_, at) => BROKEN[at % 10]).join("\n") });
    for (const pieceBytes of [60, 777, 5_000]) {
      const pool = newPool({ threads: 2, limits: { ...TINY, pieceBytes } });
      expect(contentOf(await loaded(pool, [source]))).toEqual(await wanted([source]));
    }
  });

  test("a file that may not be trusted is not read, and its refusal stands in its place", async () => {
    const source = written({ "a.jsonl": "{", "b.jsonl": line("b"), "c.jsonl": "}" });
    const check: ConfigCheck = async ({ path: file }) =>
      file.endsWith("b.jsonl") ? { code: "config-unreadable", message: "belongs to somebody else", path: [] } : null;
    for (const threads of [0, 2]) {
      const content = contentOf(await loaded(newPool({ threads, limits: TINY }), [source], { check }));
      expect(content).toEqual(await wanted([source], check));
      expect(content["jobs"]).toEqual([]);
    }
  });

  test("tells how far it is", async () => {
    const source = written({ "a.jsonl": `${line("a")}\n`.repeat(50), "b.yaml": "jobs: []\n" });
    const total = ["a.jsonl", "b.yaml"].reduce((sum, name) => sum + fs.statSync(path.join(directory, name)).size, 0);
    const done: number[] = [];
    const onProgress = ({ doneBytes, totalBytes }: { doneBytes: number; totalBytes: number }): void => {
      expect(totalBytes).toBe(total);
      done.push(doneBytes);
    };
    await newPool({ threads: 0 }).load([source], { onProgress });
    expect(done.at(-1)).toBe(total);
    expect([...done].sort((a, b) => a - b)).toEqual(done);
  });

  test("some jobs can be left out, and what is asked of the others stays the same", async () => {
    const source = written({ "a.jsonl": ["a", "b", "c"].map((it) => line(it)).join("\n"), "b.jsonl": line("d") });
    const { set } = await loaded(newPool({ threads: 0 }), [source]);
    const rest = set.without(new Set(["b", "x"]));
    expect(Array.from({ length: rest.size }, (_, index) => rest.identityAt(index))).toEqual(["a", "c", "d"]);
    expect([rest.indexOf("b"), set.indexOf("b")]).toEqual([-1, 1]);
    expect(rest.placeAt(2)).toEqual({ file: path.join("conf", "b.jsonl"), line: 1, column: 1 });
    expect(rest.textAt(1)).toBe(set.textAt(2));
    expect(() => rest.textAt(3)).toThrow("invariant broken");
  });
});

const DAYS = "BEGIN:VCALENDAR\nBEGIN:VEVENT\nDTSTART;VALUE=DATE:20261225\nEND:VEVENT\nEND:VCALENDAR\n";

describe("files of dates", () => {
  const uses = (files: string, avoid = "calendar=x"): string =>
    `calendars: { x: { file: ${files} } }\njobs:\n  - { identity: a, schedule: "@daily", command: [x], constraints: { avoid: ${avoid} } }\n`;

  test("are read beside the file that names them, in threads as on this one and for commands", async () => {
    fs.mkdirSync(path.join(directory, "sub"));
    const source = written({ "a.yaml": uses("sub/days.ics"), "sub/days.ics": DAYS });
    const sets = [
      await loaded(newPool({ threads: 0 }), [source]),
      await loaded(newPool({ threads: 1, limits: TINY }), [source]),
    ];
    for (const { set, findings, files } of sets) {
      expect([findings, files]).toEqual([[], ["conf/a.yaml"]]);
      expect(set.textAt(0)).toContain('"avoid":"calendar=x(2026-12-25)"');
    }
    const whole = await loadConfiguration([source]);
    expect([canonicalDefinitionText(requireJob(whole).definition), whole.findings]).toEqual([
      sets[0]?.set.textAt(0),
      [],
    ]);
  });

  test.each([
    { name: "missing", file: "none.ics", says: /^conf\/none\.ics:1 there is no such file/ },
    { name: "a directory", file: "sub", says: /^conf\/sub:1 is not a regular file/ },
    { name: "wrong", file: "wrong.ics", says: /^conf\/wrong\.ics:3 DTSTART has a time of day/ },
    {
      name: "too large",
      file: "large.ics",
      says: /^conf\/large\.ics:1 the file is larger than 1048576B|larger than 1MiB/,
    },
  ])("$name: refused with its place, as are the jobs that need it, and no others", async ({ file, says }) => {
    fs.mkdirSync(path.join(directory, "sub"));
    const other = '{"identity":"other","schedule":"@daily","command":["x"]}\n';
    const wrong = DAYS.replace("20261225", "20261225T100000");
    const files = {
      "a.yaml": uses(file),
      "b.jsonl": other,
      "wrong.ics": wrong,
      "large.ics": `${DAYS}${"X".repeat(1 << 20)}`,
    };
    const source = written(files);
    const { set, findings: own } = await loaded(newPool({ threads: 0 }), [source]);
    const whole = await loadConfiguration([source]);
    for (const findings of [own, whole.findings]) {
      const [first, second] = findings.map(({ located: { file: at, line: number, problem, identity } }) => {
        return { text: `${at}:${number} ${problem.message}`, identity, hint: problem.hint };
      });
      expect(first).toMatchObject({
        text: expect.stringMatching(says),
        identity: null,
        hint: expect.stringMatching(/\S/),
      });
      expect(second).toMatchObject({ identity: "a", text: 'conf/a.yaml:3 the calendar "x" cannot be used' });
      expect(findings).toHaveLength(2);
    }
    expect([set.size, set.identityAt(0)]).toEqual([1, "other"]);
  });
});

describe("a configuration that was read before", () => {
  async function again(
    pool: DecisionPool,
    sources: readonly ConfigSource[],
    known: LoadOptions["known"],
  ): Promise<boolean> {
    const { definitions, files, settings } = await pool.load(sources, known === undefined ? {} : { known });
    expect(files.length).toBeGreaterThan(0);
    expect(settings.history.keep).toBe(3);
    return definitions !== null;
  }

  test("is read again exactly when a byte of it, the files or the places have changed", async () => {
    const source = written({ "a.jsonl": line("a"), "b.yaml": "history: { keep: 3 }\njobs: []\n" });
    const pool = newPool({ threads: 0 });
    const { manifest } = await pool.load([source]);
    const known = parseManifest(JSON.stringify(manifest));
    expect(known).toEqual({ ...manifest, jobs: 1 });
    expect(await again(pool, [source], known)).toBe(false);
    fs.utimesSync(path.join(directory, "a.jsonl"), 1, 1);
    expect(await again(pool, [source], known)).toBe(false);
    written({ "a.jsonl": line("b") });
    expect(await again(pool, [source], known)).toBe(true);
    written({ "a.jsonl": line("a") });
    expect(await again(pool, [source], known)).toBe(false);
    expect(await again(pool, [{ ...source, name: "other" }], known)).toBe(true);
    written({ "c.jsonl": "" });
    expect(await again(pool, [source], known)).toBe(true);
    fs.rmSync(path.join(directory, "c.jsonl"));
    expect(await again(pool, [source], known)).toBe(false);
    fs.rmSync(path.join(directory, "a.jsonl"));
    expect(await again(pool, [source], known)).toBe(true);
  });

  test("is read again exactly when a file of dates that it names has changed, or cannot be had as before", async () => {
    const config = "calendars: { x: { file: days.ics }, y: { file: more.ics } }\nhistory: { keep: 3 }\njobs: []\n";
    const source = written({ "a.yaml": config, "b.jsonl": line("b"), "days.ics": DAYS, "more.ics": DAYS });
    const pool = newPool({ threads: 0 });
    const { manifest } = await pool.load([source]);
    const known = parseManifest(JSON.stringify(manifest));
    expect(known?.files.map(({ name, calendar }) => [name, calendar])).toEqual([
      ["conf/a.yaml", undefined],
      ["conf/days.ics", "days.ics"],
      ["conf/more.ics", "more.ics"],
      ["conf/b.jsonl", undefined],
    ]);
    expect(await again(pool, [source], known)).toBe(false);
    written({ "days.ics": DAYS.replace("1225", "1226") });
    expect(await again(pool, [source], known)).toBe(true);
    written({ "days.ics": DAYS });
    expect(await again(pool, [source], known)).toBe(false);
    fs.rmSync(path.join(directory, "more.ics"));
    expect(await again(pool, [source], known)).toBe(true);
    const check: ConfigCheck = async ({ path: name }) =>
      name.endsWith(".ics") ? { code: "config-untrusted", message: "no", path: [] } : null;
    written({ "more.ics": DAYS });
    const { findings, manifest: none } = await pool.load([source], { known, check });
    expect(findings.map(({ located: { file, problem } }) => `${file} ${problem.message}`).slice(0, 2)).toEqual([
      "conf/days.ics no",
      "conf/more.ics no",
    ]);
    expect(none).toBeNull();
  });

  test("is read again when it may not be trusted any more", async () => {
    const source = written({ "a.jsonl": line("a") });
    const pool = newPool({ threads: 0 });
    const { manifest: known } = await pool.load([source]);
    const check: ConfigCheck = async () => ({ code: "config-unreadable", message: "no", path: [] });
    const { definitions, findings, manifest } = await pool.load([source], { known, check });
    expect([definitions?.size, findings.length, manifest]).toEqual([0, 1, null]);
  });

  test("with findings there is nothing to be remembered", async () => {
    const source = written({ "a.jsonl": `${line("a")}\n{` });
    expect((await newPool({ threads: 0 }).load([source])).manifest).toBeNull();
  });

  test("a manifest of another version of the program is none", () => {
    const manifest = JSON.stringify({ reader: "0.0.1 2020a 00", files: [], settings: {}, jobs: 0 });
    expect([parseManifest(manifest), parseManifest(undefined)]).toEqual([null, null]);
  });
});

describe("loading that is not wanted any more, or whose workers die", () => {
  const LINES = `${Array.from({ length: 2_000 }, (_, at) => line(`job-${at}`)).join("\n")}\n`;

  test.each([0, 2])("ends with the reason of the signal (threads: %i)", async (threads) => {
    const source = written({ "a.jsonl": LINES });
    const pool = newPool({ threads, limits: { inlineFileBytes: 0, pieceBytes: 2_000 } });
    const cancel = new AbortController();
    const reason = new Error("reload");
    const onProgress = (): void => cancel.abort(reason);
    await expect(pool.load([source], { signal: cancel.signal, onProgress })).rejects.toBe(reason);
    expect((await loaded(pool, [source])).set.size).toBe(2_000);
  });

  test("closing the pool ends it", async () => {
    const source = written({ "a.jsonl": LINES });
    const pool = newPool({ threads: 2, limits: { inlineFileBytes: 0, pieceBytes: 2_000 } });
    const loading = pool.load([source], { onProgress: () => void pool.close() });
    await expect(loading).rejects.toThrow("the decision pool was closed");
  });

  test("a piece whose worker dies is read again, and nothing is lost or doubled", async () => {
    const mark = path.join(newDirectory(), "died");
    const entry = worker.variant(
      "dying-reader",
      `import * as fs from "node:fs";
       import * as real from "./worker.mjs";
       export async function readPiece(batch) {
         try { fs.mkdirSync(${JSON.stringify(mark)}); } catch { return real.readPiece(batch); }
         process.exit(7);
       }`,
    );
    const source = written({ "a.jsonl": LINES });
    const pool = newPool({ threads: 2, entry, limits: { inlineFileBytes: 0, pieceBytes: 5_000 } });
    expect(contentOf(await loaded(pool, [source]))).toEqual(await wanted([source]));
    expect(pool.status().deaths).toBe(1);
  });
});
