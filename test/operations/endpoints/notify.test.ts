/** Whom endpoints tell, as it is written and changed: what is secret stays what it is, and what it takes is bounded. */
import { describe, expect, test } from "vitest";
import { UPDATE_ENDPOINT } from "../../../src/operations/endpoints/endpoints.js";
import { CREATE_JOB, GET_JOB, UPDATE_JOB } from "../../../src/operations/endpoints/jobs.js";
import { Desk } from "./desk.js";

const HOOK = "https://hooks.test/told";
const RULES = [
  { url: HOOK, signingSecret: "first", secretHeaders: { A: "one" } },
  { url: HOOK, on: ["late"], lateMs: 60_000, signingSecret: "second", secretHeaders: { B: "two" } },
];

interface Webhook {
  readonly headers: Readonly<Record<string, string>>;
  readonly signature: { readonly secret_sealed: string };
}

async function opened(notify: readonly object[]) {
  const desk = await Desk.open();
  const { id: jobId } = await desk.job();
  const { id: endpointId } = await desk.endpoint(jobId, { notify });
  const identity = `endpoint:acme/${jobId}/${endpointId}`;
  /** As it is sent: opened. */
  const secrets = async () => {
    const version = await desk.ports.reader.newestVersion(identity);
    const { notify: rules = [] } = JSON.parse(version?.text ?? "{}");
    return rules.map(({ webhook: { headers, signature } }: { readonly webhook: Webhook }) => {
      const named = Object.entries(headers).map(([name, value]) => `${name}: ${desk.box.open(value)}`);
      return [desk.box.open(signature.secret_sealed), ...named];
    });
  };
  return { desk, jobId, endpointId, secrets };
}

describe("two rules for one address", () => {
  test("keep each its own secrets, whatever else is changed", async () => {
    const { desk, endpointId, secrets } = await opened(RULES);
    const before = [
      ["first", "A: one"],
      ["second", "B: two"],
    ];
    expect(await secrets()).toEqual(before);
    const { notify } = await desk.ask(UPDATE_ENDPOINT, { endpointId, description: "changed" });
    expect(await secrets()).toEqual(before);
    await desk.ask(UPDATE_ENDPOINT, { endpointId, notify });
    expect(await secrets()).toEqual(before);
  });
});

test.each(["A", "constructor"])("a secret that nobody has kept is none: %s", async (header) => {
  const { desk, endpointId } = await opened([]);
  const asked = desk.ask(UPDATE_ENDPOINT, { endpointId, notify: [{ url: HOOK, secretHeaders: { [header]: null } }] });
  const problems = [expect.objectContaining({ path: ["notify", 0, "secretHeaders", header] })];
  await expect(asked).rejects.toMatchObject({ kind: "bad-request", problems });
});

test("what a job tells takes no more room than is good for each of its endpoints, and each message", async () => {
  const desk = await Desk.open();
  const rule = (header: number) => ({ url: HOOK, headers: { A: "x".repeat(header), B: "x".repeat(header) } });
  const { id: jobId } = await desk.ask(CREATE_JOB, { name: "told", notify: [rule(7_000)] });
  const notify = [rule(7_000), rule(7_000)];
  const problems = [{ code: "limit-exceeded", path: ["notify"] }];
  await expect(desk.ask(UPDATE_JOB, { jobId, notify })).rejects.toMatchObject({ kind: "bad-request", problems });
  await expect(desk.ask(CREATE_JOB, { name: "more", notify })).rejects.toMatchObject({ kind: "bad-request", problems });
  expect((await desk.ask(GET_JOB, { jobId })).notify).toHaveLength(1);
});
