/**
 * R14 for endpoints: the daemon is killed at random instants between a claim, its request and its answer, and between a
 * change and its acknowledgement. Then every endpoint, every request that arrived and every run is asked after.
 */
import { expect, test } from "vitest";
import { builtPrograms, krondProcesses } from "../support/krond.js";
import { job, placesIn } from "../support/place.js";
import { temporaryDirectories } from "../support/temporary.js";
import { answer, wildServers } from "../support/wild-server.js";
import { EndpointCampaign } from "./endpoint-campaign.js";
import { randomFrom } from "./random.js";

const programs = builtPrograms();
const startKrond = krondProcesses(programs);
const place = placesIn(temporaryDirectories(), programs);
const server = wildServers();

const KILLS = Number(process.env["KRON_TORTURE_KILLS"] ?? 60);
const SEED = Number(process.env["KRON_TORTURE_SEED"] ?? 20_261_119);

/** A slot is named as the record names it: whose it is, and its instant. */
function slotOf(headers: Readonly<Record<string, string>>): string {
  return `${headers["x-kron-identity"]?.split("/").at(-1)} ${headers["x-kron-scheduled-for"]}`;
}

test(`R14: ${KILLS} kills -9: no slot is sent twice, every slot is accounted for, every acknowledged change is there`, async () => {
  const random = randomFrom(SEED);
  let campaign: EndpointCampaign | null = null;
  const wild = await server((socket) => {
    campaign?.saw("request");
    setTimeout(() => {
      answer(socket, 200, "well");
      campaign?.saw("answer");
    }, random.next() * 30);
  });
  const here = place(`${job("t/configured", "true")}http: { allow: ["127.0.0.1"] }\n`);
  const start = () => startKrond(here.config, here.state);
  campaign = new EndpointCampaign({ start, state: here.state, url: wild.url, random });
  for (let kill = 0; kill < KILLS; kill += 1) await campaign.life();
  const runs = await campaign.account();

  const seen = new Map<string, number>();
  for (const { headers } of wild.hits) {
    const key = headers["idempotency-key"] ?? "";
    seen.set(key, (seen.get(key) ?? 0) + 1);
  }
  const slots = new Set(runs.map(({ endpointId, scheduledFor }) => `${endpointId} ${scheduledFor}`));
  const received = new Set(wild.hits.map(({ headers }) => slotOf(headers)));
  const succeeded = runs.filter(({ status }) => status === "success");
  const kinds = [...new Set(runs.map(({ status }) => status))].map(
    (status) => `${runs.filter((run) => run.status === status).length} ${status}`,
  );
  const kills = Object.entries(campaign.kills).map(([moment, count]) => `${count} ${moment}`);
  console.log(
    `R14: kills ${kills.join(", ")}; ${campaign.asked} changes acknowledged; ${wild.hits.length} requests, ${runs.length} runs: ${kinds.join(", ")}`,
  );
  expect(campaign.broken).toEqual([]);
  expect([...seen].filter(([, count]) => count > 1)).toEqual([]);
  expect([...received].filter((slot) => !slots.has(slot))).toEqual([]);
  expect(runs.filter(({ status }) => status === "running")).toEqual([]);
  // What is on record as a success was received.
  expect(succeeded.filter(({ endpointId, scheduledFor }) => !received.has(`${endpointId} ${scheduledFor}`))).toEqual(
    [],
  );
  expect([wild.hits.length, succeeded.length, campaign.asked].every((count) => count > KILLS / 4)).toBe(true);
});
