/** The pieces of history that are played with faults: one for each thing that may happen to a period. */
import { MINUTE_MS } from "../../../src/core/time/instant.js";
import type { Script } from "./drill.js";
import { job } from "./world.js";

const EVERY_MINUTE = "* * * * *";
const PATIENT = { deadline: "50s" };

export const SCRIPTS: Readonly<Record<string, Script>> = {
  start: { jobs: [job("a", EVERY_MINUTE, { policy: PATIENT }), job("b", EVERY_MINUTE)], seconds: 66 },
  completion: {
    jobs: [job("a", EVERY_MINUTE, { policy: PATIENT })],
    behaviour: () => ({ runMs: 3_000, exitCode: 3 }),
    seconds: 66,
  },
  skip: {
    jobs: [job("a", EVERY_MINUTE, { policy: { ...PATIENT, concurrency: "forbid" } })],
    behaviour: () => ({ runMs: 90_000 }),
    seconds: 155,
  },
  allow: {
    jobs: [job("a", EVERY_MINUTE, { policy: { ...PATIENT, concurrency: "allow" } })],
    behaviour: () => ({ runMs: 70_000 }),
    seconds: 135,
  },
  missed: {
    jobs: [job("a", "1 * * * *", { policy: { deadline: "5s" } }), job("b", "1 * * * *")],
    behaviour: () => ({ refusal: { code: "command-not-found", message: "no such file" } }),
    seconds: 70,
  },
  unschedulable: {
    jobs: [job("a", "2 * * * *", { window: { duration: "1m" }, constraints: { only: "hours=3" } })],
    seconds: 125,
  },
  replace: {
    jobs: [job("a", EVERY_MINUTE, { policy: { ...PATIENT, concurrency: "replace" } })],
    behaviour: () => ({ runMs: null, ignoresTerm: true }),
    seconds: 135,
  },
  timeout: {
    jobs: [job("a", "1 * * * *", { timeout: "5s" })],
    behaviour: () => ({ runMs: null }),
    seconds: 70,
  },
  recovery: {
    jobs: [
      job("short", EVERY_MINUTE, { policy: PATIENT }),
      job("long", "1 * * * *", { policy: PATIENT }),
      job("gone", "1 * * * *"),
    ],
    behaviour: ({ env }) => ({ runMs: env["KRON_IDENTITY"] === "short" ? 2_000 : 15_000 }),
    deeds: { 61: { do: "kill" } },
    seconds: 82,
  },
  reboot: {
    jobs: [job("a", EVERY_MINUTE, { policy: PATIENT })],
    deeds: { 63: { do: "reboot" } },
    seconds: 70,
  },
  manual: {
    jobs: [job("a", "1 * * * *", { policy: PATIENT }), job("asleep", "1 * * * *", { policy: { suspend: true } })],
    deeds: { 5: { do: "run", identity: "a" }, 7: { do: "run", identity: "asleep" }, 59: { do: "run", identity: "a" } },
    seconds: 66,
  },
  reload: {
    jobs: [job("kept", EVERY_MINUTE, { policy: PATIENT }), job("changed", EVERY_MINUTE), job("gone", EVERY_MINUTE)],
    deeds: {
      58: {
        do: "reload",
        jobs: [
          job("kept", EVERY_MINUTE, { policy: PATIENT }),
          job("changed", "*/2 * * * *", { policy: PATIENT }),
          job("new", EVERY_MINUTE),
        ],
      },
      63: { do: "reload", jobs: [job("kept", EVERY_MINUTE, { policy: PATIENT }), job("gone", EVERY_MINUTE)] },
    },
    seconds: 126,
  },
  pause: {
    jobs: [job("a", EVERY_MINUTE, { policy: PATIENT })],
    deeds: { 30: { do: "pause", identity: "a", forMs: MINUTE_MS }, 58: { do: "resume", identity: "a" } },
    seconds: 66,
  },
  cancel: {
    jobs: [job("a", "1 * * * *")],
    behaviour: () => ({ runMs: null }),
    deeds: { 63: { do: "cancel", identity: "a" } },
    seconds: 70,
  },
  "launcher lost": {
    jobs: [job("a", EVERY_MINUTE, { policy: PATIENT })],
    deeds: { 58: { do: "lose-launcher" }, 62: { do: "lose-launcher" } },
    seconds: 75,
  },
};
