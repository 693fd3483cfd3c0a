import { describe, expect, test } from "vitest";
import type { DstRule } from "../../../src/core/time/dst.js";
import { at, schedule, text } from "../../support/schedules.js";

describe("S3: dst.gap and dst.overlap", () => {
  const berlin = "Europe/Berlin";
  test.each<{ name: string; zone: string; cron: string; dst: DstRule; from: string; to: string; times: string[] }>([
    {
      name: "gap skip",
      zone: berlin,
      cron: "30 2 * * *",
      dst: { gap: "skip", overlap: "both" },
      from: "2026-03-28T12:00:00Z",
      to: "2026-03-30T12:00:00Z",
      times: ["2026-03-30T02:30:00+02:00"],
    },
    {
      name: "gap next",
      zone: berlin,
      cron: "30 2 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "2026-03-28T12:00:00Z",
      to: "2026-03-30T12:00:00Z",
      times: ["2026-03-29T03:00:00+02:00", "2026-03-30T02:30:00+02:00"],
    },
    {
      name: "gap next, several skipped times become one",
      zone: berlin,
      cron: "*/10 2 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "2026-03-29T00:00:00Z",
      to: "2026-03-29T12:00:00Z",
      times: ["2026-03-29T03:00:00+02:00"],
    },
    {
      name: "gap next, the end of the gap matches anyway",
      zone: berlin,
      cron: "0 2,3 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "2026-03-29T00:00:00Z",
      to: "2026-03-29T12:00:00Z",
      times: ["2026-03-29T03:00:00+02:00"],
    },
    {
      name: "gap next, nothing was skipped",
      zone: berlin,
      cron: "30 4 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "2026-03-29T00:00:00Z",
      to: "2026-03-29T12:00:00Z",
      times: ["2026-03-29T04:30:00+02:00"],
    },
    {
      name: "gap next, a skipped day of the year",
      zone: "Pacific/Apia",
      cron: "0 12 30 12 *",
      dst: { gap: "next", overlap: "both" },
      from: "2011-01-01T00:00:00Z",
      to: "2012-12-01T00:00:00Z",
      times: ["2011-12-31T00:00:00+14:00"],
    },
    {
      name: "gap next, a skipped midnight",
      zone: "America/Havana",
      cron: "0 0 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "2026-03-07T06:00:00Z",
      to: "2026-03-09T06:00:00Z",
      times: ["2026-03-08T01:00:00-04:00", "2026-03-09T00:00:00-04:00"],
    },
    {
      name: "gap next, half an hour",
      zone: "Australia/Lord_Howe",
      cron: "15 2 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "2026-10-03T12:00:00Z",
      to: "2026-10-04T12:00:00Z",
      times: ["2026-10-04T02:30:00+11:00"],
    },
    {
      name: "gap next, the first whole minute after the gap (S1)",
      zone: "Africa/Monrovia",
      cron: "20 0 * * *",
      dst: { gap: "next", overlap: "both" },
      from: "1972-01-06T12:00:00Z",
      to: "1972-01-08T00:00:00Z",
      times: ["1972-01-07T00:45:00Z"],
    },
    {
      name: "overlap both",
      zone: berlin,
      cron: "30 2 * * *",
      dst: { gap: "skip", overlap: "both" },
      from: "2026-10-24T12:00:00Z",
      to: "2026-10-25T12:00:00Z",
      times: ["2026-10-25T02:30:00+02:00", "2026-10-25T02:30:00+01:00"],
    },
    {
      name: "overlap first",
      zone: berlin,
      cron: "30 2 * * *",
      dst: { gap: "skip", overlap: "first" },
      from: "2026-10-24T12:00:00Z",
      to: "2026-10-25T12:00:00Z",
      times: ["2026-10-25T02:30:00+02:00"],
    },
    {
      name: "overlap last",
      zone: berlin,
      cron: "30 2 * * *",
      dst: { gap: "skip", overlap: "last" },
      from: "2026-10-24T12:00:00Z",
      to: "2026-10-25T12:00:00Z",
      times: ["2026-10-25T02:30:00+01:00"],
    },
    {
      name: "overlap last, weekly: the repeated hour lies right behind the one that is left out",
      zone: berlin,
      cron: "15 2 * * SUN",
      dst: { gap: "skip", overlap: "last" },
      from: "2026-10-18T12:00:00Z",
      to: "2026-11-01T12:00:00Z",
      times: ["2026-10-25T02:15:00+01:00", "2026-11-01T02:15:00+01:00"],
    },
    {
      name: "overlap first, weekly",
      zone: berlin,
      cron: "15 2 * * SUN",
      dst: { gap: "skip", overlap: "first" },
      from: "2026-10-18T12:00:00Z",
      to: "2026-11-01T12:00:00Z",
      times: ["2026-10-25T02:15:00+02:00", "2026-11-01T02:15:00+01:00"],
    },
    {
      name: "overlap first, hourly leaves two hours between",
      zone: berlin,
      cron: "0 * * * *",
      dst: { gap: "skip", overlap: "first" },
      from: "2026-10-25T00:00:00Z",
      to: "2026-10-25T03:00:00Z",
      times: ["2026-10-25T02:00:00+02:00", "2026-10-25T03:00:00+01:00"],
    },
    {
      name: "overlap last, hourly leaves two hours between",
      zone: berlin,
      cron: "0 * * * *",
      dst: { gap: "skip", overlap: "last" },
      from: "2026-10-24T23:00:00Z",
      to: "2026-10-25T03:00:00Z",
      times: ["2026-10-25T01:00:00+02:00", "2026-10-25T02:00:00+01:00", "2026-10-25T03:00:00+01:00"],
    },
    {
      name: "overlap first, half an hour",
      zone: "Australia/Lord_Howe",
      cron: "*/15 1 * * *",
      dst: { gap: "skip", overlap: "first" },
      from: "2026-04-04T14:00:00Z",
      to: "2026-04-04T16:00:00Z",
      times: [
        "2026-04-05T01:00:00+11:00",
        "2026-04-05T01:15:00+11:00",
        "2026-04-05T01:30:00+11:00",
        "2026-04-05T01:45:00+11:00",
      ],
    },
    {
      name: "overlap last, two hours",
      zone: "Antarctica/Troll",
      cron: "0 1,2 * * *",
      dst: { gap: "skip", overlap: "last" },
      from: "2026-10-24T22:00:00Z",
      to: "2026-10-25T12:00:00Z",
      times: ["2026-10-25T01:00:00+00:00", "2026-10-25T02:00:00+00:00"],
    },
  ])("$name ($zone, $cron)", ({ zone: zoneId, cron, dst, from, to, times }) => {
    const expected = times.map((time) => text(at(time)));
    const compiled = schedule(cron, zoneId, dst);
    expect([...compiled.between(at(from), at(to))].map(text)).toEqual(expected);
    for (const time of expected) {
      expect(text(compiled.previous(at(time)))).toBe(time);
      expect(text(compiled.next(at(time) - 1))).toBe(time);
      expect(compiled.matches(at(time))).toBe(true);
    }
    expect(text(compiled.previous(at(to) - 1))).toBe(expected.at(-1));
  });
});
