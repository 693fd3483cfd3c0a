/** What is kept of requests with an Idempotency-Key is bounded for each owner: it lies on the disk for a day. */
import { expect, test } from "vitest";
import { Idempotency, type IdempotencyPorts } from "../../src/api/http/idempotency.js";
import { API_LIMITS } from "../../src/api/limits.js";
import type { ObjectWrite } from "../../src/persist/store.js";

function kept() {
  let at = 1_000_000;
  const written: ObjectWrite[] = [];
  const ports = {
    now: () => at,
    reader: { object: async () => undefined },
    write: async (objects: readonly ObjectWrite[]) => void written.push(...objects),
    inTurn: <T>(_name: string, act: () => Promise<T>) => act(),
  } as unknown as IdempotencyPorts;
  const idempotency = new Idempotency(ports);
  let count = 0;
  const ask = (owner: string) => {
    const asked = { owner, key: `${count++}`, request: "{}", isShownOnce: false };
    const body = "x".repeat(API_LIMITS.keptAnswerChars);
    return idempotency.once(asked, async () => ({ status: 201, headers: {}, body }));
  };
  return { ask, written, pass: (ms: number) => (at += ms) };
}

test("whoever has filled his share is told so, others are not, and the next day there is room again", async () => {
  const { ask, written, pass } = kept();
  for (let chars = 0; chars < API_LIMITS.keptChars; chars += API_LIMITS.keptAnswerChars) await ask("tenant:acme");
  const before = written.length;
  const refused = await ask("tenant:acme").catch((error: unknown) => error);
  expect(refused).toMatchObject({
    code: "exhausted",
    headers: { "Retry-After": `${API_LIMITS.idempotencyMs / 1_000}` },
  });
  expect(written).toHaveLength(before);
  expect(await ask("tenant:other")).toMatchObject({ status: 201 });
  pass(API_LIMITS.idempotencyMs);
  expect(await ask("tenant:acme")).toMatchObject({ status: 201 });
});
