/** kron limits, asked of a real daemon. */
import { expect, test } from "vitest";
import { desks } from "./place.js";

const desk = desks();
const FREE = {
  executions_per_minute: null,
  execution_burst: 10,
  executions_per_month: null,
  planner_calls_per_day: null,
  planner_tokens_per_day: null,
  endpoints: null,
  min_interval_ms: null,
};

test("limits are a tenant's own, those that are not named stay, and none takes one back", async () => {
  const here = await desk();
  const limits = async (...args: string[]) => (await here.json<{ limits: object }>("limits", ...args)).limits;
  expect(await limits()).toEqual(FREE);
  await here.kron("limits", "set", "--endpoints", "1", "--min-interval", "1m", "--tenant", "acme");
  const both = { ...FREE, endpoints: 1, min_interval_ms: 60_000 };
  expect([await limits("--tenant", "acme"), await limits("show")]).toEqual([both, FREE]);
  expect(await limits("set", "--execution-burst", "20", "--tenant", "acme")).toEqual({ ...both, execution_burst: 20 });
  const more = [
    "--min-interval",
    "none",
    "--execution-burst",
    "none",
    "--executions-per-month",
    "5",
    "--tenant",
    "acme",
  ];
  expect(await limits("set", ...more)).toEqual({ ...FREE, endpoints: 1, executions_per_month: 5 });
  await here.kron("job", "create", "j", "--tenant", "acme");
  const wish = ["--url", here.server.url, "--every", "1h", "--tenant", "acme"];
  await here.kron("endpoint", "create", "j/a", ...wish);
  const full = await here.kron("endpoint", "create", "j/b", ...wish);
  expect([full.exitCode, full.err]).toEqual([
    1,
    expect.stringMatching(/^kron: the tenant has its 1 endpoint already\n/),
  ]);
  await here.kron("endpoint", "run", "j/a", "--wait", "--tenant", "acme");
  const { out } = await here.kron("limits", "--tenant", "acme");
  expect(out).toMatch(/^tenant acme\nLIMIT +BOUND +USED +BEGINS ANEW\n/);
  expect(out).toMatch(/^executions-per-month +5 +1 +\d{4}-\d\d-01T00:00:00Z$/m);
  expect(out).toMatch(/^endpoints +1 +1 +-$/m);
});

test("bad input is told at its option, and nothing is set", async () => {
  const here = await desk();
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [["sett"], /did you mean 'kron limits set'\?/],
    [["--endpoints", "5"], /--endpoints is not for 'kron limits show'\n {2}it is for set/],
    [["set"], /there is nothing to set/],
    [["set", "--endpoints", "many"], /--endpoints: "many" is not a whole number, and not none/],
    [["set", "--execution-burst", "many"], /--execution-burst: "many" is not a whole number/],
    [["set", "--execution-burst", "0"], /--execution-burst: must be at least 1/],
    [["set", "--executions-per-minute", "0"], /--executions-per-minute: must be at least 1/],
    [["set", "--min-interval", "soon"], /--min-interval: /],
    [["set", "--endpoints", "5", "x"], /limits set takes no arguments/],
  ];
  for (const [args, message] of rows) {
    const { exitCode, out, err } = await here.kron("limits", ...args);
    expect({ args, exitCode, out, err }).toEqual({ args, exitCode: 1, out: "", err: expect.stringMatching(message) });
  }
  expect(await here.json("limits")).toMatchObject({ tenant: "default", limits: FREE });
});

test("list has every tenant with what it has used", async () => {
  const here = await desk();
  await here.kron("limits", "set", "--endpoints", "7", "--tenant", "acme");
  await here.kron("job", "create", "j", "--tenant", "globex");
  await here.kron("endpoint", "create", "j/a", "--url", here.server.url, "--every", "1h", "--tenant", "globex");
  const all = await here.json<{ tenant: string; used: { endpoints: number } }[]>("limits", "list");
  expect(all.map(({ tenant, used }) => [tenant, used.endpoints])).toEqual([
    ["acme", 0],
    ["default", 0],
    ["globex", 1],
  ]);
  const { out } = await here.kron("limits", "list");
  expect(out).toMatch(/^TENANT +ENDPOINTS +RUNS THIS MONTH +PLANNER CALLS TODAY\nacme +0 of 7 +0 +0$/m);
  expect((await here.kron("limits", "list", "acme")).exitCode).not.toBe(0);
});
