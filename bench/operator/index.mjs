/**
 * The operator with many KronJobs, over the API server double in another process: how long until everything is known, how
 * much memory, what an event costs, and how fast KronJobs that were never seen before are taken in.
 */
import { fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { bundle } from "../lib/bundle.mjs";
import { row } from "../lib/report.mjs";
import { inWorkplace } from "../lib/workplace.mjs";

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const LOOK_MS = 100;
const children = [];

function start(path, ...args) {
  const child = fork(path, args.map(String));
  children.push(child);
  return child;
}

async function answer(child) {
  const [message] = await once(child, "message");
  return message;
}

async function costOf(operator) {
  operator.send({});
  return (await answer(operator)).cost;
}

/** Until nothing waits for a look any more. */
async function atRest(operator) {
  for (;;) {
    const cost = await costOf(operator);
    if (cost.depth === 0) return cost;
    await wait(LOOK_MS);
  }
}

async function known(paths, count) {
  const server = start(paths.server, count, "settled");
  const { url } = await answer(server);
  const operator = start(paths.operator, url);
  const { started } = await answer(operator);
  const { before, after, kronJobs, jobs } = started;
  const idle = await atRest(operator);
  const touched = Math.min(count, 5_000);
  server.send({ touch: touched });
  await answer(server);
  await wait(2_000);
  const busy = await atRest(operator);
  const perObject = (after.rss - before.rss) / (kronJobs + jobs);
  const what = `${kronJobs} KronJobs and ${jobs} Jobs`;
  return [
    row({ id: "O1", name: `start: ${what} known`, value: after.atMs - before.atMs, unit: "ms" }),
    row({ id: "O2", name: `memory of ${what}, whole process`, value: after.rss / 2 ** 20, unit: "MiB" }),
    row({ id: "O3", name: "memory of an object, with what reading it left behind", value: perObject, unit: "B" }),
    row({
      id: "O4",
      name: "processor time of a watch event",
      value: ((busy.cpuMs - idle.cpuMs) * 1000) / touched,
      unit: "µs",
    }),
  ];
}

async function firstSight(paths, count) {
  const server = start(paths.server, count, "new");
  const { url } = await answer(server);
  const operator = start(paths.operator, url);
  const { started } = await answer(operator);
  const rest = await atRest(operator);
  const seconds = (rest.atMs - started.after.atMs) / 1000;
  return row({
    id: "O5",
    name: `first sight of ${count} KronJobs (a read, a dry run and a write each)`,
    value: count / seconds,
    unit: "/s",
  });
}

/** Everything at the same second, the worst that a schedule can ask for. */
async function dueAtOnce(paths, count) {
  const server = start(paths.server, count, "due");
  const { url } = await answer(server);
  const operator = start(paths.operator, url);
  await answer(operator);
  for (;;) {
    server.send({ touch: null });
    const { late } = await answer(server);
    if (late !== null) return lateRows(late.sort((a, b) => a - b));
    await wait(LOOK_MS);
  }
}

function lateRows(late) {
  const what = `${late.length} KronJobs due at once: chosen second to release`;
  const at = (share) => late[Math.min(late.length - 1, Math.floor(share * late.length))];
  return [
    row({ id: "O6", name: `${what}, half of them`, value: at(0.5), unit: "ms" }),
    row({ id: "O7", name: `${what}, the last`, value: at(1), unit: "ms" }),
  ];
}

export async function run({ isQuick }) {
  const [count, fresh, due] = isQuick ? [5_000, 1_000, 200] : [20_000, 5_000, 2_000];
  try {
    return await inWorkplace("operator", async (directory) => {
      const paths = {
        server: await bundle(file("server.ts"), directory, "server"),
        operator: await bundle(file("operator.ts"), directory, "operator"),
      };
      const rows = [...(await known(paths, count)), await firstSight(paths, fresh), ...(await dueAtOnce(paths, due))];
      return { rows, notes: ["The API server is the double of the tests: a real one is slower at writes."] };
    });
  } finally {
    for (const child of children.splice(0)) child.kill("SIGKILL");
  }
}
