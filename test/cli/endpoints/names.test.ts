/** Endpoints as people call them, of a daemon that gives them by id and page by page. */
import { expect, test } from "vitest";
import { Names } from "../../../src/cli/endpoints/names.js";
import type { Ask } from "../../../src/cli/endpoints/tenant.js";

const JOB = { id: `job_${"0".repeat(16)}`, name: "j" };

/** So many, the last by name first. */
function daemonWith(count: number) {
  const asked: string[] = [];
  const rows = Array.from({ length: count }, (_, at) => ({ id: `ep_${at}`, jobId: JOB.id, name: String(99_999 - at) }));
  const ask = (async (request: { op: string; cursor?: string | null; limit?: number }) => {
    asked.push(request.op);
    if (request.op === "jobs.get") return JOB;
    const from = request.cursor == null ? 0 : rows.findIndex(({ id }) => id === request.cursor) + 1;
    const to = from + (request.limit ?? 0);
    return { rows: rows.slice(from, to), next: to < count ? (rows[to - 1]?.id ?? null) : null };
  }) as unknown as Ask;
  return { ask, asked };
}

async function listed(ask: Ask): Promise<string[]> {
  const labels: string[] = [];
  for await (const rows of new Names(ask).endpoints()) labels.push(...rows.map(({ label }) => label));
  return labels;
}

test("they come in the order of their names, and the name of their job is asked for once", async () => {
  const { ask, asked } = daemonWith(1_200);
  const labels = await listed(ask);
  expect(labels).toHaveLength(1_200);
  expect(labels).toEqual([...labels].sort());
  expect(asked.filter((op) => op === "jobs.get")).toHaveLength(1);
});

test("very many come as the daemon gives them: none is left out, and none is held until the last one is there", async () => {
  const { ask } = daemonWith(12_345);
  const labels = await listed(ask);
  expect(new Set(labels).size).toBe(12_345);
  expect(labels[0]).toBe("j/99999");
});
