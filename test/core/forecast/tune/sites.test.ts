import { describe, expect, test } from "vitest";
import type { ConfigFormat } from "../../../../src/core/config/formats.js";
import { readConfigText } from "../../../../src/core/config/readers.js";
import { applyEdits, type JobSite, type JobSites } from "../../../../src/core/forecast/tune/edit/edits.js";
import { jsonSites, kronSites } from "../../../../src/core/forecast/tune/edit/line-sites.js";
import { yamlSites } from "../../../../src/core/forecast/tune/edit/yaml-sites.js";

const SITES: Readonly<Record<ConfigFormat, (text: string) => JobSites>> = {
  yaml: yamlSites,
  kron: kronSites,
  jsonl: jsonSites,
};
const WINDOW = { mode: "after", durationMs: 300_000 } as const;
const SALT = 'a "b", c';

function siteOf(format: ConfigFormat, text: string, identity: string): JobSite {
  const site = SITES[format](text).get(identity);
  if (site === undefined) throw new Error(`test data: no job ${identity}`);
  return site;
}

/** The text with the one change, or what stands in the way. */
function changed(format: ConfigFormat, text: string, what: "window" | "salt"): string | null {
  const site = siteOf(format, text, "j");
  const edit = what === "window" ? site.windowEdit(WINDOW) : site.saltEdit(SALT);
  return edit === null ? null : applyEdits(text, [edit]);
}

function definitionIn(format: ConfigFormat, text: string) {
  const { jobs, problems } = readConfigText(format, `x.${format}`, text);
  expect(problems).toEqual([]);
  return jobs.find(({ definition }) => definition.identity === "j")?.definition;
}

type Row = readonly [name: string, before: string, after: string];

describe("a window in YAML: below the schedule, everything else stays to the byte", () => {
  const rows: readonly Row[] = [
    [
      "comments and blank lines",
      'jobs:\n  # first\n  - identity: j # name\n    schedule: "0 0 * * *"   # nightly\n\n    command: [x]\n',
      'jobs:\n  # first\n  - identity: j # name\n    schedule: "0 0 * * *"   # nightly\n    window: { mode: after, duration: 5m }\n\n    command: [x]\n',
    ],
    [
      "the schedule comes first",
      "jobs:\n- schedule: '@daily'\n  identity: j\n  command: [x]\n",
      "jobs:\n- schedule: '@daily'\n  window: { mode: after, duration: 5m }\n  identity: j\n  command: [x]\n",
    ],
    [
      "in braces",
      'jobs:\n  - { identity: j, schedule: "0 0 * * *", command: [x] } # short\n',
      'jobs:\n  - { identity: j, schedule: "0 0 * * *", window: { mode: after, duration: 5m }, command: [x] } # short\n',
    ],
    [
      "no newline at the end",
      'jobs:\n  - identity: j\n    command: [x]\n    schedule: "@daily"',
      'jobs:\n  - identity: j\n    command: [x]\n    schedule: "@daily"\n    window: { mode: after, duration: 5m }',
    ],
    [
      "lines that end with CR LF",
      'jobs:\r\n  - identity: j\r\n    schedule: "@daily"\r\n    command: [x]\r\n',
      'jobs:\r\n  - identity: j\r\n    schedule: "@daily"\r\n    window: { mode: after, duration: 5m }\r\n    command: [x]\r\n',
    ],
    [
      "a byte order mark",
      '\ufeffjobs:\n  - identity: j\n    schedule: "@daily"\n    command: [x]\n',
      '\ufeffjobs:\n  - identity: j\n    schedule: "@daily"\n    window: { mode: after, duration: 5m }\n    command: [x]\n',
    ],
    [
      "a schedule that is an alias",
      'jobs:\n  - { identity: a, schedule: &s "@daily", command: [x] }\n  - identity: j\n    schedule: *s\n    command: [x]\n',
      'jobs:\n  - { identity: a, schedule: &s "@daily", command: [x] }\n  - identity: j\n    schedule: *s\n    window: { mode: after, duration: 5m }\n    command: [x]\n',
    ],
    [
      "a schedule over two lines",
      'jobs:\n  - identity: j\n    schedule: "0 0\n      * * *"\n    command: [x]\n',
      'jobs:\n  - identity: j\n    schedule: "0 0\n      * * *"\n    window: { mode: after, duration: 5m }\n    command: [x]\n',
    ],
    [
      "a window that is there keeps its mode and form",
      'jobs:\n  - identity: j\n    schedule: "@daily"\n    window:\n      duration: "1m" # short\n      mode: after\n    command: [x]\n',
      'jobs:\n  - identity: j\n    schedule: "@daily"\n    window:\n      duration: 5m # short\n      mode: after\n    command: [x]\n',
    ],
    [
      "defaults stay",
      'defaults: { window: { duration: 1m } }\njobs:\n  - identity: j\n    schedule: "@daily"\n    command: [x]\n',
      'defaults: { window: { duration: 1m } }\njobs:\n  - identity: j\n    schedule: "@daily"\n    window: { mode: after, duration: 5m }\n    command: [x]\n',
    ],
  ];
  test.each(rows)("%s", (_, before, after) => {
    expect(changed("yaml", before, "window")).toBe(after);
    expect(definitionIn("yaml", after)).toEqual({ ...definitionIn("yaml", before), window: WINDOW });
  });
});

describe("what only a person can change", () => {
  const rows: readonly (readonly [name: string, text: string])[] = [
    ["a job behind an anchor", 'jobs:\n  - &job { identity: j, schedule: "@daily", command: [x] }\n'],
    [
      "a window behind an anchor",
      'jobs:\n  - { identity: j, schedule: "@daily", window: &w { duration: 1m }, command: [x] }\n',
    ],
    [
      "a window that is an alias",
      'jobs:\n  - { identity: a, schedule: "@daily", window: &w { duration: 1m }, command: [x] }\n  - { identity: j, schedule: "@daily", window: *w, command: [x] }\n',
    ],
    [
      "a window whose duration stands under defaults",
      'defaults: { window: { duration: 1m } }\njobs:\n  - { identity: j, schedule: "@daily", window: { mode: around }, command: [x] }\n',
    ],
    ["a folded schedule", "jobs:\n  - identity: j\n    schedule: >-\n      @daily\n    command: [x]\n"],
  ];
  test.each(rows)("%s", (_, text) => {
    expect(changed("yaml", text, "window")).toBeNull();
  });
});

describe("a window in the line format: behind the schedule", () => {
  const rows: readonly Row[] = [
    ["five fields", '0 0 * * *  name=j command="x"\n', '0 0 * * * @win(after,5m)  name=j command="x"\n'],
    [
      "a macro",
      '# c\n@daily @tz(Europe/Berlin) name=j command="x"',
      '# c\n@daily @win(after,5m) @tz(Europe/Berlin) name=j command="x"',
    ],
    ["CR LF", '@daily name=j command="x"\r\n', '@daily @win(after,5m) name=j command="x"\r\n'],
    [
      "a window that is there",
      '@daily name=j @win( around , 1m ) command="x"\n',
      '@daily name=j @win(after,5m) command="x"\n',
    ],
  ];
  test.each(rows)("%s", (_, before, after) => {
    expect(changed("kron", before, "window")).toBe(after);
    expect(definitionIn("kron", after)).toMatchObject({ window: WINDOW });
  });
});

describe("a window in JSON Lines: behind the schedule, in the style of the line", () => {
  const rows: readonly Row[] = [
    [
      "dense",
      '{"identity":"j","schedule":"@daily","command":["x"]}\n',
      '{"identity":"j","schedule":"@daily","window":{"mode":"after","duration":"5m"},"command":["x"]}\n',
    ],
    [
      "spaced",
      '\n{"identity": "j", "command": ["x"], "schedule": "@daily"}',
      '\n{"identity": "j", "command": ["x"], "schedule": "@daily", "window": {"mode": "after", "duration": "5m"}}',
    ],
    [
      "a window that is there",
      '{"identity":"j","window":{ "duration" : "1m" },"schedule":"@daily","command":["x"]}',
      '{"identity":"j","window":{ "duration" : "5m" },"schedule":"@daily","command":["x"]}',
    ],
  ];
  test.each(rows)("%s", (_, before, after) => {
    expect(changed("jsonl", before, "window")).toBe(after);
    expect(definitionIn("jsonl", after)).toMatchObject({ window: WINDOW });
  });
});

describe("a salt, whatever is in it, comes out as it went in", () => {
  const rows: readonly (readonly [name: string, format: ConfigFormat, text: string])[] = [
    ["YAML, new", "yaml", 'jobs:\n  - identity: j\n    schedule: "@daily"\n    command: [x]\n'],
    [
      "YAML, replaced",
      "yaml",
      'jobs:\n  - { identity: j, seed: { strategy: daily, salt: s }, schedule: "@daily", command: [x] }\n',
    ],
    ["line format, new", "kron", '@daily name=j command="x"\n'],
    ["line format, replaced", "kron", '@daily @seed(daily, salt="s") name=j command="x"\n'],
    ["line format, added", "kron", '@daily @seed(daily) name=j command="x"\n'],
    ["JSON Lines, new", "jsonl", '{"identity": "j", "schedule": "@daily", "command": ["x"]}\n'],
    [
      "JSON Lines, replaced",
      "jsonl",
      '{"identity":"j","seed":{"salt":"s","strategy":"daily"},"schedule":"@daily","command":["x"]}\n',
    ],
  ];
  test.each(rows)("%s", (_, format, text) => {
    const before = definitionIn(format, text);
    const after = changed(format, text, "salt") ?? "";
    expect(definitionIn(format, after)).toEqual({ ...before, seed: { strategy: before?.seed.strategy, salt: SALT } });
  });
});

test("sites know the line, and whether the job says something of its window", () => {
  const text =
    'defaults: { window: { duration: 1m } }\njobs:\n  - { identity: a, schedule: "@daily", command: [x] }\n  - { identity: j, schedule: "@daily", window: { duration: 0s }, command: [x] }\n';
  expect([...yamlSites(text)].map(([identity, { line, hasOwnWindow }]) => [identity, line, hasOwnWindow])).toEqual([
    ["a", 3, false],
    ["j", 4, true],
  ]);
});
