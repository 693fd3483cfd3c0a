import { expect } from "vitest";
import { systemClock } from "../../../src/actors/clock.js";
import { createDispatcher } from "../../../src/actors/dispatcher/http-dispatcher.js";
import { type SimulatedAnswer, SimulatedDispatcher } from "../../../src/actors/dispatcher/simulated-dispatcher.js";
import { SimulatedClock } from "../../../src/actors/simulated-clock.js";
import { requestArm } from "../../support/requests.js";
import { answer, type Manners, wildServers } from "../../support/wild-server.js";
import { dispatcherContract, type Manner } from "./contract.js";

const server = wildServers();
const TIMEOUT = "400ms";

const MANNERS: Readonly<Record<string, Manners>> = {
  "/answers": (socket) => answer(socket, 200, "well"),
  "/fails": (socket) => answer(socket, 500, "oh"),
};

dispatcherContract("the dispatcher", async () => {
  const wild = await server((socket, hit) => MANNERS[hit.path]?.(socket, hit));
  const gone = await server(() => undefined);
  await gone.close();
  const dispatcher = createDispatcher({ clock: systemClock, env: {} });
  const urlOf = (manner: Manner): string =>
    manner === "is not there" ? gone.url : `${wild.url}${manner.replaceAll(" ", "-")}`;
  return {
    dispatcher,
    request: (manner) => requestArm({ url: urlOf(manner), timeout: TIMEOUT }),
    timesReceived: (id) => wild.hits.filter(({ headers }) => headers["x-kron-attempt"] === id).length,
    now: () => Date.now(),
    until: (isSo) => expect.poll(isSo, { interval: 5 }).toBe(true),
    close: () => dispatcher.close(),
  };
});

const ANSWERS: Readonly<Record<Manner, SimulatedAnswer>> = {
  answers: { answerMs: 10, status: 200 },
  fails: { answerMs: 10, status: 500 },
  "never answers": { answerMs: null, status: 200 },
  "is not there": { answerMs: 10, status: 200, failure: "connect-failed" },
};

dispatcherContract("the simulated dispatcher", async () => {
  const clock = new SimulatedClock({ startAt: Date.UTC(2026, 10, 18, 12) });
  const manners = new Map<string, Manner>();
  const received: string[] = [];
  const dispatcher = new SimulatedDispatcher(clock, ({ attemptId }) => ANSWERS[manners.get(attemptId) ?? "answers"], {
    sent: ({ attemptId }) => void received.push(attemptId),
    ended: () => undefined,
  });
  return {
    dispatcher,
    request: (manner) => {
      const request = requestArm({ url: "https://example.org/", timeout: TIMEOUT });
      manners.set(request.attemptId, manner);
      return request;
    },
    timesReceived: (id) => received.filter((one) => one === id).length,
    now: () => clock.now(),
    until: async (isSo) => {
      for (let turns = 0; !isSo() && turns < 1_000; turns++) await clock.advanceAsync(100);
    },
    close: () => dispatcher.close(),
  };
});
