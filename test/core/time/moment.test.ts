import { describe, expect, test } from "vitest";
import { formatInstant } from "../../../src/core/time/instant.js";
import { isZoned, type MomentFrame, readMoment } from "../../../src/core/time/moment.js";
import { zone } from "../../support/zones.js";

/** A Thursday, half past ten in Berlin. */
const NOW = Date.parse("2026-11-19T09:30:15.250Z");

function frame(toward: MomentFrame["toward"] = "ahead", zoneId = "Europe/Berlin", now = NOW): MomentFrame {
  return { now, zone: zone(zoneId), toward };
}

function read(text: string, where = frame()): string {
  const moment = readMoment(text, where);
  return moment.ok ? formatInstant(moment.value) : moment.error.message;
}

describe("instants as people say them", () => {
  test.each([
    ["2026-11-20T09:00:00Z", "2026-11-20T09:00:00Z"],
    ["2026-11-20T09:00Z", "2026-11-20T09:00:00Z"],
    ["2026-11-20T09:00:00.500+01:00", "2026-11-20T08:00:00.500Z"],
    ["2026-11-20T09:00+01:00", "2026-11-20T08:00:00Z"],
    ["2026-11-20T09:00", "2026-11-20T08:00:00Z"],
    ["2026-11-20 09:00:30", "2026-11-20T08:00:30Z"],
    ["2026-11-20", "2026-11-19T23:00:00Z"],
    ["now", "2026-11-19T09:30:15Z"],
    ["2h", "2026-11-19T11:30:15Z"],
    ["7d", "2026-11-26T09:30:15Z"],
    ["1d12h", "2026-11-20T21:30:15Z"],
    ["in 90m", "2026-11-19T11:00:15Z"],
    ["2h ago", "2026-11-19T07:30:15Z"],
    ["-2h", "2026-11-19T07:30:15Z"],
    ["tomorrow", "2026-11-19T23:00:00Z"],
    ["Tomorrow 09:00", "2026-11-20T08:00:00Z"],
    ["yesterday", "2026-11-17T23:00:00Z"],
    ["today 18:00", "2026-11-19T17:00:00Z"],
    ["09:00", "2026-11-20T08:00:00Z"],
    ["10:31", "2026-11-19T09:31:00Z"],
    ["9am", "2026-11-20T08:00:00Z"],
    ["12am", "2026-11-19T23:00:00Z"],
    ["9:30pm", "2026-11-19T20:30:00Z"],
    ["noon", "2026-11-19T11:00:00Z"],
    ["fri 18:00", "2026-11-20T17:00:00Z"],
    ["thursday 18:00", "2026-11-19T17:00:00Z"],
    ["thu", "2026-11-25T23:00:00Z"],
    ["mon noon", "2026-11-23T11:00:00Z"],
  ])("%j, from now on: %s", (text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test.each([
    ["2h", "2026-11-19T07:30:15Z"],
    ["in 2h", "2026-11-19T11:30:15Z"],
    ["09:00", "2026-11-19T08:00:00Z"],
    ["10:31", "2026-11-18T09:31:00Z"],
    ["mon 09:00", "2026-11-16T08:00:00Z"],
    ["thu", "2026-11-18T23:00:00Z"],
    ["yesterday", "2026-11-17T23:00:00Z"],
  ])("%j, looking back: %s", (text, expected) => {
    expect(read(text, frame("back"))).toBe(expected);
  });

  test.each([
    ["the hour that a clock change leaves out: the first instant after it", "2026-03-29T02:30", "2026-03-29T01:00:00Z"],
    ["the hour that it repeats: the first time", "2026-10-25T02:30", "2026-10-25T00:30:00Z"],
    ["a day later on the wall, 23 hours later", "2026-03-29", "2026-03-28T23:00:00Z"],
  ])("%s", (_title, text, expected) => {
    expect(read(text)).toBe(expected);
  });

  test("what is today depends on where one is", () => {
    const late = Date.parse("2026-11-19T23:30:00Z");
    expect(read("today", frame("ahead", "Europe/Berlin", late))).toBe("2026-11-19T23:00:00Z");
    expect(read("today", frame("ahead", "America/New_York", late))).toBe("2026-11-19T05:00:00Z");
  });

  test.each([
    ["someday", '"someday" is neither an instant nor a duration'],
    ["", '"" is neither an instant nor a duration'],
    ["9", '"9" is neither an instant nor a duration'],
    ["25:00", '"25:00" is neither an instant nor a duration'],
    ["13pm", '"13pm" is neither an instant nor a duration'],
    ["fri 18:00 sharp", '"fri 18:00 sharp" is neither an instant nor a duration'],
    ["- 2h", '"- 2h" is neither an instant nor a duration'],
    ["2026-02-30", "there is no date 2026-02-30"],
    ["2026-02-30T09:00", "there is no date 2026-02-30"],
    ["2026-02-30T09:00:00Z", "there is no date 2026-02-30"],
    ["2300-01-01", "the instant lies outside the years that are known"],
    ["x".repeat(65), `"${"x".repeat(64)}" is neither an instant nor a duration`],
  ])("%j is refused: %s", (text, message) => {
    expect(read(text)).toBe(message);
  });

  test("whoever needs no zone is told from whoever does", () => {
    expect(["now", "2h", "2h ago", "2026-11-20T09:00Z"].map(isZoned)).toEqual([true, true, true, true]);
    expect(["09:00", "tomorrow", "2026-11-20", "2026-11-20T09:00", "x"].map(isZoned)).toEqual(Array(5).fill(false));
  });
});
