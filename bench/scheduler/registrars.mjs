/**
 * How each library is given its tasks. `open` loads it; the function it gives registers `count` tasks that are all due
 * at `dueAt`, and calls `fired` from each of them. Every task has an expression and an async callback of its own, as it
 * would in a program.
 *
 * `dueAt` is a whole second. Where it is no whole minute, the peers are told by the seconds field that they have, and
 * Kron, which has none, by a clock that is set accordingly.
 */
const MINUTE_MS = 60_000;

function expressionAt(at) {
  const date = new Date(at);
  return `${date.getUTCMinutes()} ${date.getUTCHours()} * * *`;
}

function peerExpressionAt(at) {
  const second = new Date(at).getUTCSeconds();
  return second === 0 ? expressionAt(at) : `${second} ${expressionAt(at)}`;
}

/** Ahead of the host's by as much as makes `dueAt` a whole minute. */
function clockFor(dueAt) {
  const aheadMs = (MINUTE_MS - (dueAt % MINUTE_MS)) % MINUTE_MS;
  return {
    aheadMs,
    options: aheadMs === 0 ? {} : { clock: { now: () => Date.now() + aheadMs, timeZone: () => "UTC" } },
  };
}

function kron(storeOf) {
  return async (directory) => {
    const library = await import("../../dist/scheduler.js");
    const store = storeOf(library, directory);
    return async ({ count, dueAt, fired }) => {
      const { aheadMs, options } = clockFor(dueAt);
      const cron = expressionAt(dueAt + aheadMs);
      const list = Array.from({ length: count }, (_, i) => [`task ${i}`, cron, async () => fired(), MINUTE_MS]);
      const scheduler = library.createScheduler({ ...options, store });
      await scheduler.initialize(list);
      return scheduler;
    };
  };
}

function peer(open, registerOne) {
  return async () => {
    const library = await open();
    return async ({ count, dueAt, fired }) => {
      const expression = peerExpressionAt(dueAt);
      const held = [];
      for (let i = 0; i < count; i += 1) held.push(registerOne(library, expression, async () => fired(), `task ${i}`));
      return held;
    };
  };
}

export const MEMORY = "Kron, memoryStore";
export const DURABLE = "Kron, lmdbStore";

export const REGISTRARS = {
  [MEMORY]: kron((library) => library.memoryStore()),
  [DURABLE]: kron((library, directory) => library.lmdbStore(directory)),
  croner: peer(
    () => import("croner"),
    ({ Cron }, expression, callback) => new Cron(expression, callback),
  ),
  "node-cron": peer(
    () => import("node-cron"),
    ({ schedule }, expression, callback) => schedule(expression, callback),
  ),
  "node-schedule": peer(
    () => import("node-schedule"),
    ({ default: { scheduleJob } }, expression, callback, name) => scheduleJob(name, expression, callback),
  ),
  "cron-schedule": peer(
    async () => {
      const { parseCronExpression } = await import("cron-schedule");
      const { TimerBasedCronScheduler } = await import("cron-schedule/schedulers/timer-based.js");
      return { TimerBasedCronScheduler, parseCronExpression };
    },
    ({ TimerBasedCronScheduler, parseCronExpression }, expression, callback) =>
      TimerBasedCronScheduler.setInterval(parseCronExpression(expression), callback),
  ),
};

export const PEERS = Object.keys(REGISTRARS).filter((name) => name !== MEMORY && name !== DURABLE);
