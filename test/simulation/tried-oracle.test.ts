/** S24: what a simulation finds wrong with the record of a period that could not be started. */
import { expect, test } from "vitest";
import { MINUTE_MS } from "../../src/core/time/instant.js";
import type { ReadRecord } from "../../src/simulation/records.js";
import { judgeTried } from "../../src/simulation/tried-oracle.js";
import { at } from "../support/scheduling.js";

const NOON = at("2026-03-01T12:00:00Z");
const TRIED = { at: NOON, reason: "not_started:command-not-found" };

const missed = (reason: string): ReadRecord => ({ kind: "period", outcome: "missed", reason });
const gap = (fromMinutes: number): ReadRecord => {
  return { kind: "gap", firstAt: NOON + fromMinutes * MINUTE_MS, lastAt: NOON + 60 * MINUTE_MS };
};

test.each<[string, ReadRecord, boolean]>([
  ["missed for what stood in its way", missed(TRIED.reason), true],
  ["missed because its last start took too long", missed("late_start"), true],
  ["executed after all", { kind: "period", outcome: "executed", reason: null }, true],
  ["missed for the downtime after it", missed("down"), false],
  ["missed because the next one came", missed("superseded"), false],
  ["told as one that nobody looked at", gap(-60), false],
  ["others were passed over", gap(30), true],
])("S24: %s", (_, record, isTrue) => {
  expect(judgeTried(TRIED, NOON, record).violation === null).toBe(isTrue);
});

test("S24: known from its record, until a definition or a run comes in between", () => {
  const told: ReadRecord = { kind: "start_failed", source: "cron", reason: TRIED.reason };
  expect(judgeTried(null, NOON, told).tried).toEqual(TRIED);
  expect(judgeTried(null, NOON, { ...told, source: "interval" }).tried).toBeNull();
  expect(judgeTried(TRIED, NOON, { kind: "defined" }).tried).toBeNull();
  expect(judgeTried(null, NOON, missed("down")).violation).toBeNull();
});
