/** What people were not told yet of an endpoint is asked of whoever looks after it: among several nodes that may be another one. */
import { expect, test } from "vitest";
import { Neighbours, NODE_UNDELIVERED } from "../../../src/actors/cluster/neighbours.js";
import { HEALTH } from "../../../src/operations/endpoints/health.js";
import type { Acting, AmongNodes } from "../../../src/operations/ports.js";
import { Desk } from "./desk.js";

test("the health of an endpoint counts what another node has not delivered", async () => {
  const desk = await Desk.open();
  const { id: jobId } = await desk.job();
  const { id: endpointId } = await desk.endpoint(jobId);
  const asked: string[] = [];
  const here = {
    undelivered: (identity: string) => {
      asked.push(identity);
      return { count: 2, error: "nobody listens there" };
    },
  };
  // What the other node is asked goes as a letter.
  const other = new Neighbours({ here } as unknown as ConstructorParameters<typeof Neighbours>[0]);
  const undelivered: AmongNodes["undelivered"] = async (identity) => {
    const answer = await other.answer({ do: NODE_UNDELIVERED.name, input: { identity } });
    return answer.is === "done" ? [NODE_UNDELIVERED.output.parse(answer.value), { count: 0, error: null }] : [];
  };
  const ports: Acting = { ...desk.ports, among: { undelivered } as unknown as AmongNodes };
  const { run, input } = HEALTH;
  const health = await run(input.parse({ endpointId }), ports, { tenant: "acme", keyId: null, scope: "admin" });
  expect(health.undelivered).toEqual({ count: 2, error: "nobody listens there" });
  expect(asked).toEqual([expect.stringContaining(endpointId)]);
});
