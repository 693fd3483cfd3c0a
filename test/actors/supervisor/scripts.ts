/** The pieces of history that are played with faults: one for each thing that may happen to a period. */
import type { Hint } from "../../../src/core/governor/hint.js";
import { MINUTE_MS, SECOND_MS } from "../../../src/core/time/instant.js";
import type { Script } from "./drill.js";
import { job, START, webhook } from "./world.js";

const EVERY_MINUTE = "* * * * *";
const PATIENT = { deadline: "50s" };
const HOOK = { url: "https://hooks.test/a" };
const after = (seconds: number): number => START + seconds * SECOND_MS;
const everySeconds = (seconds: number, until: number): Hint => ({
  kind: "interval",
  intervalMs: seconds * SECOND_MS,
  expiresAt: after(until),
  reason: "drill",
});
const onceAt = (seconds: number, until: number): Hint => ({
  kind: "oneshot",
  nextRunAt: after(seconds),
  expiresAt: after(until),
  reason: "drill",
});

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
  "jobs at boot": {
    jobs: [
      job("a", "@reboot", { policy: PATIENT }),
      webhook("b", "@reboot", { policy: { ...PATIENT, concurrency: "forbid" } }),
      job("asleep", "@reboot", { policy: { suspend: true } }),
      job("cron", EVERY_MINUTE, { policy: PATIENT }),
    ],
    behaviour: () => ({ runMs: 3_000 }),
    deeds: { 5: { do: "kill" }, 12: { do: "reboot" }, 20: { do: "jump", byMs: -3_600_000 }, 22: { do: "reboot" } },
    seconds: 30,
  },
  "jobs at boot, changed, paused and tried again": {
    jobs: [
      job("a", "@reboot", { policy: PATIENT, retry: { limit: 2, backoff: "5s", max_backoff: "5s" } }),
      job("gone", "@reboot", { policy: PATIENT }),
    ],
    behaviour: () => ({ runMs: 1_000, exitCode: 1 }),
    deeds: {
      3: {
        do: "reload",
        jobs: [
          job("a", "@reboot", {
            policy: PATIENT,
            timezone: "Europe/Berlin",
            retry: { limit: 2, backoff: "5s", max_backoff: "5s" },
          }),
          job("late", "@reboot", { policy: PATIENT }),
        ],
      },
      8: { do: "pause", identity: "late", forMs: 15_000 },
      14: { do: "reboot" },
    },
    seconds: 40,
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
  interval: {
    jobs: [job("a", "@every 20s", { policy: { concurrency: "forbid" } }), webhook("b", "@every 30s")],
    behaviour: () => ({ runMs: 4_000 }),
    seconds: 66,
  },
  "interval that can be started now and then": {
    jobs: [job("a", "@every 20s")],
    // Of each three starts that are tried the first two fail.
    behaviour: ({ attemptId }) =>
      Number(/\d+$/.exec(attemptId)?.[0] ?? 0) % 3 === 0
        ? { runMs: 1_000 }
        : { refusal: { code: "command-not-found", message: "no such file" } },
    seconds: 66,
  },
  "periods that can be started now and then": {
    // The first is in time for longer than the next one takes to come.
    jobs: [
      job("a", EVERY_MINUTE, { policy: { deadline: "3m" } }),
      job("b", EVERY_MINUTE, { policy: { deadline: "20s" } }),
    ],
    behaviour: ({ attemptId }) =>
      Number(/\d+$/.exec(attemptId)?.[0] ?? 0) % 9 === 0
        ? { runMs: 1_000 }
        : { refusal: { code: "command-not-found", message: "no such file" } },
    deeds: { 75: { do: "pause", identity: "a", forMs: 50_000 } },
    seconds: 130,
  },
  "interval that waits": {
    jobs: [job("a", "@every 10s", { policy: { concurrency: "forbid" } })],
    behaviour: () => ({ runMs: 25_000 }),
    deeds: { 5: { do: "run", identity: "a" } },
    seconds: 66,
  },
  "interval hint": {
    jobs: [job("a", EVERY_MINUTE, { policy: PATIENT })],
    behaviour: () => ({ runMs: 2_000 }),
    deeds: { 20: { do: "hint", identity: "a", hint: everySeconds(15, 72) } },
    seconds: 125,
  },
  "hint set, replaced and cleared": {
    jobs: [job("a", "@every 25s"), job("b", EVERY_MINUTE, { policy: PATIENT })],
    behaviour: () => ({ runMs: 1_000 }),
    deeds: {
      10: { do: "hint", identity: "a", hint: everySeconds(7, 200) },
      12: { do: "hint", identity: "b", hint: everySeconds(60, 200) },
      30: { do: "hint", identity: "a", hint: everySeconds(11, 200) },
      40: { do: "unhint", identity: "b", kind: "all" },
      50: { do: "unhint", identity: "a", kind: "interval" },
    },
    seconds: 66,
  },
  "one-shot hint": {
    jobs: [job("a", EVERY_MINUTE, { policy: PATIENT }), webhook("b", EVERY_MINUTE, { policy: PATIENT })],
    deeds: {
      5: { do: "hint", identity: "a", hint: onceAt(25, 3_600) },
      6: { do: "hint", identity: "b", hint: onceAt(25, 3_600) },
      70: { do: "hint", identity: "a", hint: onceAt(25, 3_600) },
    },
    seconds: 75,
  },
  "one-shot that expires": {
    jobs: [job("a", EVERY_MINUTE, { policy: { ...PATIENT, suspend: false, concurrency: "forbid" } })],
    behaviour: () => ({ runMs: 80_000 }),
    deeds: { 2: { do: "run", identity: "a" }, 5: { do: "hint", identity: "a", hint: onceAt(25, 65) } },
    seconds: 70,
  },
  request: {
    jobs: [webhook("a", EVERY_MINUTE, { policy: PATIENT }), webhook("b", EVERY_MINUTE)],
    seconds: 70,
  },
  "request without an answer": {
    jobs: [
      webhook("a", EVERY_MINUTE, { policy: { ...PATIENT, concurrency: "forbid" }, http: { ...HOOK, timeout: "20s" } }),
      webhook("reset", "1 * * * *", { policy: PATIENT }),
    ],
    answer: ({ identity }) => (identity === "a" ? { answerMs: null } : { failure: "connection-lost", answerMs: 100 }),
    seconds: 90,
  },
  "request that is refused": {
    jobs: [webhook("a", "1 * * * *", { policy: { deadline: "5s" } })],
    answer: () => ({ refusal: { code: "address-forbidden", message: "10.0.0.1 is private" } }),
    seconds: 70,
  },
  "request replaced": {
    jobs: [
      webhook("a", EVERY_MINUTE, { policy: { ...PATIENT, concurrency: "replace" }, http: { ...HOOK, timeout: "10m" } }),
    ],
    answer: () => ({ answerMs: null }),
    seconds: 135,
  },
  "request by hand": {
    jobs: [webhook("a", "1 * * * *", { policy: PATIENT })],
    deeds: { 5: { do: "run", identity: "a" }, 30: { do: "run", identity: "a" }, 31: { do: "cancel", identity: "a" } },
    answer: () => ({ answerMs: 4_000 }),
    seconds: 66,
  },
  once: {
    jobs: [
      job("a", "@at 2026-03-01T00:01:00", { policy: PATIENT }),
      job("tried", "@at 2026-03-01T00:01:10", {
        policy: PATIENT,
        retry: { limit: 2, backoff: "5s", max_backoff: "5s" },
      }),
      webhook("asked", "@at 2026-03-01T00:01:00Z", { policy: PATIENT, window: { duration: "10s" } }),
      job("past", "@at 2026-02-28T23:59:00"),
      job("paused", "@at 2026-03-01T00:01:05", { policy: PATIENT }),
    ],
    behaviour: ({ env }) => ({ runMs: 2_000, exitCode: env["KRON_IDENTITY"] === "tried" ? 1 : 0 }),
    deeds: { 40: { do: "pause", identity: "paused", forMs: 40_000 } },
    seconds: 100,
  },
  retry: {
    jobs: [job("a", "*/2 * * * *", { policy: PATIENT, retry: { limit: 3, backoff: "5s", max_backoff: "15s" } })],
    behaviour: () => ({ runMs: 2_000, exitCode: 3 }),
    seconds: 170,
  },
  "retry that the next period comes before": {
    jobs: [job("a", EVERY_MINUTE, { policy: PATIENT, retry: { limit: 5, backoff: "25s", max_backoff: "25s" } })],
    behaviour: () => ({ runMs: 1_000, exitCode: 3 }),
    seconds: 125,
  },
  "retry of what nobody saw end": {
    jobs: [
      webhook("a", "*/2 * * * *", {
        policy: PATIENT,
        retry: { limit: 2, backoff: "5s", max_backoff: "5s", on: ["unseen", "answered"] },
      }),
      job("b", "*/2 * * * *", {
        policy: PATIENT,
        retry: { limit: 2, backoff: "5s", max_backoff: "5s", on: ["unseen"] },
      }),
    ],
    answer: () => ({ status: 503, answerMs: 3_000 }),
    seconds: 150,
  },
  "retry of a job that is gone and comes back": {
    jobs: [
      job("a", "*/2 * * * *", { policy: PATIENT, retry: { limit: 3, backoff: "10s", max_backoff: "10s" } }),
      job("b", "*/2 * * * *", { policy: PATIENT }),
    ],
    behaviour: () => ({ runMs: 2_000, exitCode: 3 }),
    deeds: {
      126: { do: "run", identity: "a" },
      127: { do: "reload", jobs: [job("b", "*/2 * * * *", { policy: PATIENT })] },
      129: { do: "reboot" },
      140: {
        do: "reload",
        jobs: [
          job("a", "*/3 * * * *", { policy: PATIENT, retry: { limit: 3, backoff: "10s", max_backoff: "10s" } }),
          job("b", "*/2 * * * *", { policy: PATIENT }),
        ],
      },
    },
    seconds: 185,
  },
  "retry, paused and by hand": {
    jobs: [
      job("a", "1-59/3 * * * *", {
        policy: { ...PATIENT, concurrency: "forbid" },
        retry: { limit: 3, backoff: "10s", max_backoff: "10s" },
      }),
    ],
    behaviour: () => ({ runMs: 3_000, exitCode: 1 }),
    deeds: {
      63: { do: "pause", identity: "a", forMs: 30_000 },
      75: { do: "run", identity: "a" },
      100: { do: "resume", identity: "a" },
      112: { do: "run", identity: "a" },
    },
    seconds: 140,
  },
};
