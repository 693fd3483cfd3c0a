/** kron endpoint, asked of a real daemon. */
import * as fs from "node:fs";
import * as path from "node:path";
import { describe, expect, test } from "vitest";
import { FIELD_OPTIONS } from "../../../src/cli/commands/specs/endpoint-fields.js";
import { FIELD_NAMES, OPTION_OF } from "../../../src/cli/endpoints/fields.js";
import { ENDPOINT_FIELDS } from "../../../src/core/endpoint/spec.js";
import { type Desk, desks } from "./place.js";

const desk = desks();

async function withJob(): Promise<Desk> {
  const here = await desk();
  await here.kron("job", "create", "billing");
  return here;
}

function write(here: Desk, name: string, text: string): string {
  fs.writeFileSync(path.join(here.root, name), text);
  return name;
}

test("every field has its option, or is for files alone", () => {
  expect([...FIELD_NAMES].sort()).toEqual(Object.keys(ENDPOINT_FIELDS).sort());
  const options = Object.values(OPTION_OF).flatMap((option) => option?.[0] ?? []);
  const known: readonly string[] = FIELD_OPTIONS.map(({ name }) => name);
  expect(options.filter((option) => option !== "name" && !known.includes(option))).toEqual([]);
});

describe("kron endpoint create and update", () => {
  test("say every field that has an option, and leave the others as they are", async () => {
    const here = await withJob();
    write(here, "body.json", '{"full":false}\n');
    write(here, "token", "Bearer from-a-file\n");
    const args = [
      "--url",
      `${here.server.url}sync`,
      "--method",
      "POST",
      "--cron",
      "0 2 * * *",
      "--timezone",
      "Europe/Berlin",
    ];
    const more = [
      "--window",
      "1h",
      "--window-mode",
      "around",
      "--timeout",
      "5s",
      "--max-response",
      "2MiB",
      "--success",
      "2xx,304",
    ];
    const rest = [
      "--deadline",
      "10m",
      "--retries",
      "3",
      "--tag",
      "a,b",
      "--description",
      "nightly",
      "--body-file",
      "body.json",
    ];
    const headers = [
      "--header",
      "Accept: text/plain",
      "--header",
      "X-A:1",
      "--secret-header",
      "Authorization=file:token",
    ];
    const bounds = ["--min-interval", "1m", "--max-interval", "2d"];
    const all = [...args, ...more, ...rest, ...headers, ...bounds];
    const rehearsed = await here.kron("endpoint", "create", "billing/sync", ...all, "--dry-run");
    expect([rehearsed.exitCode, rehearsed.out]).toEqual([0, "billing/sync would be created\n"]);
    expect(await here.json("endpoint", "list")).toEqual([]);
    const { exitCode, out, err } = await here.kron("endpoint", "create", "billing/sync", ...all);
    expect([exitCode, out, err]).toEqual([0, expect.stringMatching(/^billing\/sync created, next run 20\S+Z\n$/), ""]);
    const told = {
      ...{ endpoint: "billing/sync", method: "POST", body: '{"full":false}\n', baseline_cron: "0 2 * * *" },
      ...{ timezone: "Europe/Berlin", window_ms: 3_600_000, window_mode: "around", timeout_ms: 5_000 },
      ...{ max_response_size_kb: 2_048, success_statuses: ["2xx", "304"], deadline_ms: 600_000 },
      ...{ retry: { limit: 3, backoff_ms: 30_000 }, tags: ["a", "b"], description: "nightly" },
      ...{ headers: { Accept: "text/plain", "X-A": "1" }, secret_headers: ["Authorization"] },
      ...{ min_interval_ms: 60_000, max_interval_ms: 172_800_000, version: 1 },
    };
    expect(await here.json("endpoint", "show", "billing/sync")).toMatchObject(told);

    const changes = ["--header", "x-a: 2", "--header", "Accept:", "--backoff", "1m", "--min-interval", "none"];
    const changed = await here.kron("endpoint", "update", "billing/sync", ...changes);
    expect(changed.out).toBe(
      'billing/sync changed\n  headers: {"Accept":"text/plain","X-A":"1"} -> {"x-a":"2"}\n' +
        '  minIntervalMs: 60000 -> null\n  retry: {"limit":3,"backoffMs":30000} -> {"limit":3,"backoffMs":60000}\n',
    );
    await here.kron("endpoint", "run", "billing/sync", "--wait");
    expect(here.server.hits[0]).toMatchObject({ method: "POST", body: '{"full":false}\n' });
    expect(here.server.hits[0]?.headers).toMatchObject({ authorization: "Bearer from-a-file", "x-a": "2" });
    expect(here.server.hits[0]?.headers).not.toHaveProperty("accept", "text/plain");

    const every = [
      "--every",
      "5m",
      "--retries",
      "0",
      "--window",
      "0s",
      "--name",
      "often",
      "--secret-header",
      "Authorization=",
    ];
    expect((await here.kron("endpoint", "update", "billing/sync", ...every)).exitCode).toBe(0);
    const often = { baseline_cron: null, baseline_interval_ms: 300_000, retry: null, secret_headers: [] };
    expect(await here.json("endpoint", "show", "billing/often")).toMatchObject(often);
    const carried = await here.kron("endpoint", "update", "billing/often", "--by", "worker", "--planner", "rules");
    expect(carried.out).toBe('billing/often changed\n  by: "krond" -> "worker"\n  planner: null -> "rules"\n');
    expect((await here.kron("endpoint", "update", "billing/often", "--planner", "none")).out).toContain(
      '"rules" -> null',
    );
  });

  test("a file says fields, and options go before them; a secret comes from the environment", async () => {
    const here = await withJob();
    const file = write(
      here,
      "e.json",
      JSON.stringify({ job: "billing", name: "x", url: here.server.url, baselineIntervalMs: 60_000 }),
    );
    const world = { env: { TOKEN: "s3cret" } };
    const made = await here.kronWith(
      world,
      "endpoint",
      "create",
      "--file",
      file,
      "--every",
      "1h",
      "--secret-header",
      "X-Key=env:TOKEN",
    );
    expect([made.exitCode, made.err]).toEqual([0, ""]);
    const shown = await here.kron("endpoint", "show", "billing/x");
    expect(shown.out).toMatch(/^schedule +every 1h$/m);
    expect(shown.out).toMatch(/^header +X-Key: \(kept sealed\)$/m);
    const input = "timeoutMs: 1\n";
    const from = await here.kronWith({ input }, "endpoint", "update", "x", "--job", "billing", "--file", "-");
    expect(from.out).toBe("billing/x changed\n  timeoutMs: 30000 -> 1\n");
  });

  const URL = ["--url", "http://127.0.0.1:1/", "--every", "5m"];
  test("bad input is told at its option or its line, and nothing is made", async () => {
    const here = await withJob();
    write(here, "bad.yaml", 'url: "http://a.test/"\nbaselineIntervalMs: 5\nwindwoMs: 3\nop: stop\n');
    write(here, "syntax.yaml", "baselineCron: */5 * * * *\n");
    write(here, "list.yaml", "- url\n");
    const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
      [["create"], 1, /write: kron endpoint create JOB\/NAME/],
      [["create", "x", ...URL], 1, /"x" is not JOB\/ENDPOINT\n {2}say which job/],
      [
        ["create", "biling/x", ...URL],
        1,
        /no job "biling"\n {2}did you mean "billing"\? Or make it: kron job create biling\n/,
      ],
      [
        ["create", "shop/x", ...URL],
        1,
        /no job "shop"\n {2}'kron job list' shows them, or make it: kron job create shop\n/,
      ],
      [["create", "billing/x", "--every", "5m"], 1, /--url: missing field/],
      [["create", "billing/x", "--url", "http://a.test"], 1, /--cron: an endpoint needs a baseline/],
      [["create", "billing/x", ...URL, "--cron", "* * * * *"], 1, /--cron and --every: an endpoint has one of them/],
      [
        ["create", "billing/x", ...URL, "--min-interval", "2h", "--max-interval", "1h"],
        1,
        /--min-interval: .*longer than/,
      ],
      [["create", "billing/x", ...URL, "--method", "GOT"], 1, /--method: expected one of .*\n {2}did you mean GET\?/],
      [["create", "billing/x", ...URL, "--header", "nothing"], 1, /--header: "nothing" is no header/],
      [["create", "billing/x", ...URL, "--secret-header", "A=secret"], 1, /others can see\n {2}write A=env:API_TOKEN/],
      [["create", "billing/x", ...URL, "--secret-header", "A=env:NOWHERE"], 1, /\$NOWHERE is not set/],
      [["create", "billing/x", ...URL, "--secret-header", "A=file:nowhere"], 2, /nowhere: there is no such file/],
      [["create", "billing/x", ...URL, "--body", "a", "--body-file", "b"], 1, /give one of them/],
      [["create", "billing/x", ...URL, "--body", "a"], 1, /--body: .*GET/],
      [["create", "billing/x", ...URL, "--backoff", "1m"], 1, /--backoff is between retries/],
      [["create", "billing/x", ...URL, "--timeout", "soon"], 1, /--timeout: /],
      [["create", "billing/x", ...URL, "--max-response", "5"], 1, /--max-response: not a size/],
      [["create", "billing/", ...URL], 1, /does not say what the endpoint is called/],
      [["create", "billing/x", ...URL, "--success", "9xx"], 1, /--success: /],
      [["create", "billing/x", "--url", "ftp://a.test", "--every", "5m"], 1, /--url: /],
      [["create", "billing/x", "--url", "http://a.test", "--cron", "0 25 * * *"], 1, /--cron: hour field: 25/],
      [["create", "billing/x", "--file", "nowhere.yaml"], 2, /nowhere\.yaml: there is no such file/],
      [
        ["create", "billing/x", "--file", "syntax.yaml"],
        2,
        /^syntax\.yaml:1:15: error: a text that begins with \* needs quotes/,
      ],
      [["create", "billing/x", "--file", "list.yaml"], 2, /list\.yaml:1:1: error: endpoints are written as a mapping/],
      [["create", "billing/x", "--file", "bad.yaml"], 2, /bad\.yaml:4:1: error: op: unknown field "op"\n/],
      [["update", "billing/x", "--every", "1m"], 1, /no endpoint "billing\/x"/],
      [
        ["create", "billing/x", ...URL, "--if-match", "1"],
        1,
        /--if-match is not for 'kron endpoint create'\n {2}it is for update, delete/,
      ],
      [["show", "ep_0000000000000000"], 1, /no endpoint "ep_0000000000000000"/],
      [["pause", "billing/*", "--until", "1h", "--reason", "x"], 1, /"billing\/\*" matches no endpoint/],
      [["run"], 1, /run takes an endpoint/],
    ];
    for (const [args, status, message] of rows) {
      const { exitCode, out, err } = await here.kron("endpoint", ...args);
      expect({ args, exitCode, out, err }).toEqual({
        args,
        exitCode: status,
        out: "",
        err: expect.stringMatching(message),
      });
    }
    expect(await here.json("endpoint", "list")).toEqual([]);
  });

  test("what somebody else has changed since is not overwritten", async () => {
    const here = await withJob();
    await here.kron("endpoint", "create", "billing/x", "--url", here.server.url, "--every", "1h");
    await here.kron("endpoint", "update", "billing/x", "--every", "2h");
    const stale = await here.kron("endpoint", "update", "billing/x", "--every", "3h", "--if-match", "1");
    expect([stale.exitCode, stale.err]).toEqual([1, "kron: not as expected: this is version 2\n"]);
    const kept = await here.kron("endpoint", "delete", "billing/x", "--if-match", "1");
    expect([kept.exitCode, kept.err]).toEqual([1, "kron: not as expected: this is version 2\n"]);
    expect((await here.kron("endpoint", "delete", "billing/x", "--if-match", "2")).exitCode).toBe(0);
  });

  test("names may have slashes; where that leaves a choice, it is not made", async () => {
    const here = await desk();
    for (const name of ["a", "a/b"]) await here.kron("job", "create", name);
    const wish = ["--url", here.server.url, "--every", "1h"];
    const open = await here.kron("endpoint", "create", "a/b/c", ...wish);
    expect([open.exitCode, open.err]).toEqual([1, expect.stringContaining("may be of more than one job")]);
    await here.kron("endpoint", "create", "b/c", "--job", "a", ...wish);
    expect(await here.json("endpoint", "show", "a/b/c")).toMatchObject({ name: "b/c" });
    await here.kron("endpoint", "create", "c", "--job", "a/b", ...wish);
    const both = await here.kron("endpoint", "show", "a/b/c");
    expect([both.exitCode, both.err]).toEqual([1, expect.stringContaining("is an endpoint of more than one job")]);
    expect(await here.json("endpoint", "show", "c", "--job", "a/b")).toMatchObject({ endpoint: "a/b/c", name: "c" });
  });
});

describe("kron endpoint apply", () => {
  const text = (url: string): string => `job: billing
endpoints:
  - name: sync
    url: ${url}sync
    baselineIntervalMs: 3600000
  - { name: report, url: "${url}report", baselineCron: "0 2 * * *" }
`;

  test("makes endpoints what a file says, and does nothing where they are so already", async () => {
    const here = await withJob();
    const file = write(here, "billing.yaml", text(here.server.url));
    const rehearsed = await here.kron("endpoint", "apply", file, "--dry-run");
    expect(rehearsed.out).toBe(
      "billing/sync would be created\nbilling/report would be created\n" +
        "2 endpoints: 2 created, 0 changed, 0 unchanged; nothing was done\n",
    );
    expect(await here.json("endpoint", "list")).toEqual([]);
    expect((await here.kron("endpoint", "apply", file)).out).toMatch(
      /\n2 endpoints: 2 created, 0 changed, 0 unchanged\n$/,
    );
    const again = await here.json<object[]>("endpoint", "apply", file);
    expect(again).toMatchObject([1, 1].map((version) => ({ result: "unchanged", version, changes: [] })));
    write(here, file, text(here.server.url).replace("3600000", "7200000"));
    const changed = await here.kron("endpoint", "apply", file);
    expect(changed.out).toBe(
      "billing/sync changed\n  baselineIntervalMs: 3600000 -> 7200000\nbilling/report unchanged\n" +
        "2 endpoints: 0 created, 1 changed, 1 unchanged\n",
    );
  });

  test("what --spec shows makes it what it is, its secrets kept", async () => {
    const here = await withJob();
    const world = { env: { TOKEN: "s3cret" } };
    const wish = ["--url", here.server.url, "--cron", "*/5 * * * *", "--secret-header", "Authorization=env:TOKEN"];
    await here.kronWith(world, "endpoint", "create", "billing/x", ...wish);
    for (const form of ["text", "json"]) {
      const { out } = await here.kron("endpoint", "show", "billing/x", "--spec", "-o", form);
      expect(out).not.toContain("s3cret");
      const applied = await here.kronWith({ input: out }, "endpoint", "apply", "-");
      expect(applied.out).toBe("billing/x unchanged\n1 endpoint: 0 created, 0 changed, 1 unchanged\n");
      const anew = out.replace(/(Authorization"?: )null/, '$1"other"');
      const written = await here.kronWith({ input: anew }, "endpoint", "apply", "-");
      expect(written.out).toContain("  secretHeaders: written anew\n");
    }
    await here.kron("endpoint", "run", "billing/x", "--wait");
    expect(here.server.hits[0]?.headers).toMatchObject({ authorization: "other" });
  });

  test("all that is wrong is shown at its line, and nothing of the file is done", async () => {
    const here = await withJob();
    const file = write(
      here,
      "bad.yaml",
      `job: billing
endpoints:
  - { name: good, url: "http://a.test/", baselineIntervalMs: 60000 }
  - { name: late, url: "http://a.test/", baselineCron: "0 25 * * *" }
  - { name: odd, url: "http://a.test/", baselineIntervalMs: 5, windwoMs: 3, op: stop }
  - { name: good, url: "http://a.test/", baselineIntervalMs: 60000 }
  - { name: lost, job: biling, url: "http://a.test/", baselineIntervalMs: 60000 }
  - { url: "http://a.test/" }
  - 7
`,
    );
    const { exitCode, out, err } = await here.kron("endpoint", "apply", file);
    expect([exitCode, out]).toEqual([2, ""]);
    const heads = err.split("\n").filter((line) => line.includes(": error: "));
    expect(heads).toEqual([
      "bad.yaml:4:56: error: endpoints[1].baselineCron: hour field: 25 is out of range",
      "bad.yaml:5:61: error: endpoints[2].baselineIntervalMs: must be at least 1000, not the number 5",
      'bad.yaml:5:64: error: endpoints[2].windwoMs: unknown field "windwoMs"',
      'bad.yaml:5:77: error: endpoints[2].op: unknown field "op"',
      "bad.yaml:6:13: error: endpoints[3].name: billing/good is in the file twice",
      'bad.yaml:7:24: error: endpoints[4].job: no job "biling"',
      'bad.yaml:8:5: error: endpoints[5].name: missing field "name"',
      "bad.yaml:9:5: error: endpoints[6]: expected a mapping, got the number 7",
    ]);
    expect(err).toMatch(/kron: 8 problems in bad\.yaml: nothing was changed\n$/);
    expect(err).toContain('hint: did you mean "billing"? Or make it: kron job create biling');
    expect(await here.json("endpoint", "list")).toEqual([]);
  });

  test("a file names one endpoint as well, and --job the job that it does not name", async () => {
    const here = await withJob();
    const input = `name: one\nurl: ${here.server.url}\nbaselineIntervalMs: 3600000\n`;
    const lost = await here.kronWith({ input }, "endpoint", "apply", "-");
    expect([lost.exitCode, lost.err]).toEqual([2, expect.stringContaining("hint: write job: NAME, or say --job NAME")]);
    const made = await here.kronWith({ input }, "endpoint", "apply", "-", "--job", "billing");
    expect(made.out).toMatch(/^billing\/one created, /);
  });
});

describe("kron endpoint, what is done to several", () => {
  async function withThree(): Promise<Desk> {
    const here = await withJob();
    const wish = (at: string): string[] => ["--url", `${here.server.url}${at}`, "--every", "1h"];
    await here.kron("endpoint", "create", "billing/a", ...wish("a"), "--tag", "nightly");
    await here.kron("endpoint", "create", "billing/b", ...wish("bad"));
    await here.kron("job", "create", "other");
    await here.kron("endpoint", "create", "other/a", ...wish("a"), "--tag", "nightly");
    return here;
  }

  test("S51: a pause of several leaves what has stopped by itself stopped", async () => {
    const here = await withThree();
    await here.kron("endpoint", "update", "billing/b", "--auto-pause", "1");
    await here.kron("endpoint", "run", "billing/b", "--wait");
    const pause = ["--until", "2099-01-01T00:00:00Z", "--reason", "maintenance"];
    const { out } = await here.kron("endpoint", "pause", "billing/*", ...pause);
    expect(out).toContain("billing/b has stopped by itself, and stays so\n");
    expect(out).toContain("paused 1 endpoint until 2099-01-01T00:00:00Z\n");
    const shown = await here.json("endpoint", "show", "billing/b");
    expect(shown).toMatchObject({ status: "paused", paused_by: "kron" });
    // By its name alone it is what somebody wants of it.
    expect((await here.kron("endpoint", "pause", "billing/b", ...pause)).out).toContain(
      "billing/b is paused until 2099",
    );
  });

  test("by pattern, tag or name they are held and go on", async () => {
    const here = await withThree();
    const statuses = async () =>
      (await here.json<{ endpoint: string; status: string }[]>("endpoint", "list"))
        .filter(({ status }) => status === "paused")
        .map(({ endpoint }) => endpoint)
        .sort();
    const pause = ["--until", "2099-01-01T00:00:00Z", "--reason", "maintenance"];
    const rehearsed = await here.json("endpoint", "pause", "billing/*", ...pause, "--dry-run");
    expect(rehearsed).toMatchObject({ dry_run: true, identities: expect.arrayContaining(["billing/a", "billing/b"]) });
    expect(await statuses()).toEqual([]);
    const { out } = await here.kron("endpoint", "pause", "billing/*", ...pause);
    expect(out).toContain("billing/b is paused until 2099-01-01T00:00:00Z\n");
    expect(out).toContain("paused 2 endpoints until 2099-01-01T00:00:00Z\n");
    expect(await statuses()).toEqual(["billing/a", "billing/b"]);
    expect((await here.kron("endpoint", "list")).out).toMatch(/^billing\/a .*paused until 2099-01-01T00:00:00Z/m);
    expect((await here.kron("endpoint", "resume", "--tag", "nightly")).out).toContain("resumed 2 endpoints\n");
    expect(await statuses()).toEqual(["billing/b"]);
    expect((await here.kron("endpoint", "resume", "b", "--job", "billing")).out).toBe("billing/b goes on\n");
    const past = await here.kron("endpoint", "pause", "billing/a", "--until", "2001-01-01T00:00:00Z", "--reason", "x");
    expect([past.exitCode, past.err]).toEqual([1, "kron: --until: the end of the pause lies in the past\n"]);
  });

  test("they are listed by name", async () => {
    const here = await withThree();
    const names = async (...args: string[]) =>
      (await here.json<{ endpoint: string }[]>("endpoint", "list", ...args)).map(({ endpoint }) => endpoint);
    expect(await names()).toEqual(["billing/a", "billing/b", "other/a"]);
    expect(await names("-n", "2")).toEqual(["billing/a", "billing/b"]);
  });

  test("they are run now, and --wait tells how that went", async () => {
    const here = await withThree();
    const one = await here.kron("endpoint", "run", "billing/a", "--wait");
    expect([one.exitCode, one.out]).toEqual([0, expect.stringMatching(/^billing\/a: success, HTTP 200 in \S+\n$/)]);
    const both = await here.kron("endpoint", "run", "billing/*", "--wait");
    expect([both.exitCode, both.out]).toEqual([
      1,
      expect.stringMatching(/^billing\/b: failure, HTTP 503 in \S+: .*503$/m),
    ]);
    const started = await here.json<{ run_id: string }>("endpoint", "run", "other/a");
    expect(started).toMatchObject({ endpoint: "other/a", run_id: expect.stringMatching(/^run_/) });
    expect(await here.json<object[]>("endpoint", "list", "--failed")).toMatchObject([{ endpoint: "billing/b" }]);
    expect(await here.json<object[]>("endpoint", "list", "--tag", "nightly", "-n", "1")).toHaveLength(1);
    expect(await here.json<object[]>("endpoint", "list", "--job", "other")).toMatchObject([{ endpoint: "other/a" }]);
  });

  test("hints are set, shown and cleared, of several at once", async () => {
    const here = await withThree();
    const set = await here.kron("endpoint", "hint", "billing/*", "--every", "30m", "--ttl", "2h", "--reason", "busy");
    expect(set.out).toMatch(/^billing\/a: every 30m until 20\S+ \(busy\)$/m);
    expect(set.out).toContain("hinted 2 endpoints\n");
    const shown = await here.json("endpoint", "hint", "billing/a");
    expect(shown).toMatchObject({
      endpoint: "billing/a",
      interval: { interval_ms: 1_800_000, reason: "busy" },
      oneshot: null,
    });
    expect(await here.json("endpoint", "show", "billing/a")).toMatchObject({ next_source: "ai-interval" });
    expect((await here.kron("endpoint", "show", "billing/a")).out).toMatch(/^hint +every 30m until \S+ \(busy\)$/m);
    await here.kron("endpoint", "hint", "billing/*", "--clear");
    expect((await here.kron("endpoint", "hint", "billing/a")).out).toBe("billing/a: no hint in force\n");
    const bad = await here.kron("endpoint", "hint", "billing/a", "--every", "30m");
    expect([bad.exitCode, bad.err]).toEqual([1, expect.stringContaining("--ttl: an interval hint says")]);
  });

  test("they are taken out, and their runs stay on record", async () => {
    const here = await withThree();
    await here.kron("endpoint", "run", "billing/a", "--wait");
    const { id } = await here.json<{ id: string }>("endpoint", "show", "billing/a");
    expect(await here.json("endpoint", "delete", "billing/a")).toEqual({ endpoint: "billing/a", deleted: true });
    expect((await here.kron("endpoint", "delete", "billing/*", "other/a")).out).toContain("deleted 2 endpoints\n");
    expect(await here.json<object[]>("runs")).toMatchObject([{ endpoint: `billing/${id}`, status: "success" }]);
  });
});

describe("what stops by itself", () => {
  test("is said with options, shown, and taken back with none", async () => {
    const here = await withJob();
    const wish = ["--url", here.server.url, "--every", "1h"];
    const stops = ["--auto-pause", "5", "--max-runs", "10", "--end-at", "2099-01-01T00:00:00Z"];
    const body = ["--success-json", '/status="ok"'];
    await here.kron("endpoint", "create", "billing/sync", ...wish, ...stops, ...body);
    expect(await here.json("endpoint", "show", "billing/sync")).toMatchObject({
      auto_pause: { after_failures: 5 },
      max_runs: 10,
      end_at: "2099-01-01T00:00:00Z",
      success_body: { pointer: "/status", equals: "ok" },
    });
    const { out } = await here.kron("endpoint", "show", "billing/sync");
    expect(out).toMatch(/^stops +after 5 failures in a row, after 10 runs, at 2099-01-01T00:00:00Z$/m);
    expect(out).toMatch(/^success +2xx, and the body has "ok" at "\/status"$/m);
    const none = ["--auto-pause", "none", "--max-runs", "none", "--end-at", "none", "--success-json", "none"];
    await here.kron("endpoint", "update", "billing/sync", ...none);
    const gone = { auto_pause: null, max_runs: null, end_at: null, success_body: null };
    expect(await here.json("endpoint", "show", "billing/sync")).toMatchObject(gone);
    const rows: readonly (readonly [readonly string[], RegExp])[] = [
      [["--auto-pause", "0"], /--auto-pause/],
      [["--max-runs", "many"], /--max-runs/],
      [["--end-at", "soon"], /--end-at/],
      [["--end-at", "2020-01-01T00:00:00Z"], /--end-at: the end lies in the past/],
      [["--success-json", "status"], /--success-json: it is a pointer and a value/],
      [["--success-json", "status=ok"], /--success-contains: .*no JSON pointer/],
      [["--success-contains", "ok", "--success-json", "/a=1"], /an endpoint has one of them/],
      [["--success-contains", "ok", "--method", "HEAD"], /HEAD request has no body/],
    ];
    for (const [args, said] of rows) {
      const { exitCode, err } = await here.kron("endpoint", "update", "billing/sync", ...args);
      expect([args.join(" "), exitCode === 0, err]).toEqual([args.join(" "), false, expect.stringMatching(said)]);
    }
  });

  test("a body that is not as it must be fails the run; so many of them pause it, until somebody resumes it", async () => {
    const here = await withJob();
    const wish = ["--url", here.server.url, "--every", "1h", "--auto-pause", "2", "--success-contains", "never said"];
    await here.kron("endpoint", "create", "billing/sync", ...wish);
    const run = () => here.kron("endpoint", "run", "billing/sync", "--wait");
    const first = await run();
    expect(first.exitCode).toBe(1);
    expect(first.out).toMatch(/failure, HTTP 200 in \S+: the body does not contain "never said"\n$/);
    expect(await here.json("endpoint", "show", "billing/sync")).toMatchObject({ status: "active" });
    await run();
    const reason = "2 runs in a row failed: 2 times body-unexpected";
    expect(await here.json("endpoint", "show", "billing/sync")).toMatchObject({
      ...{ status: "paused", paused_by: "kron", pause_reason: reason, next_run_at: null },
    });
    expect((await here.kron("endpoint", "show", "billing/sync")).out).toContain(
      `paused by kron until it is resumed: ${reason}`,
    );
    expect((await here.kron("stats", "billing/sync")).out).toContain(`; paused by kron: ${reason}`);
    expect((await here.kron("endpoint", "list")).out).toContain("paused");
    await here.kron("endpoint", "resume", "billing/sync");
    expect(await here.json("endpoint", "show", "billing/sync")).toMatchObject({ status: "active", paused_by: null });
    expect(here.server.hits).toHaveLength(2);
  });
});
