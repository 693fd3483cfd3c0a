import fc from "fast-check";
import { afterEach, describe, expect, test, vi } from "vitest";
import { DAY_MS, formatInstant, HOUR_MS, MINUTE_MS } from "../../../src/core/time/instant.js";
import { offsetChanges } from "../../../src/core/time/temporal.js";
import { offsetSpans, SUPPORTED_INSTANTS, type Zone, type ZoneSpan, zoneOf } from "../../../src/core/time/zone.js";
import { FUZZ, IS_LONG } from "../../support/fuzz.js";
import { requireErr, requireOk } from "../../support/results.js";
import { ALL_ZONES, PECULIAR_ZONES, temporalOffsetMs, transitionsOf, zone } from "../../support/zones.js";

const { fromAt, untilAt } = SUPPORTED_INSTANTS;

function* spansOf(of: Zone, from: number, until: number): Iterable<ZoneSpan> {
  for (let span = of.spanAt(from); ; span = of.spanAt(span.endAt)) {
    yield span;
    if (span.endAt >= until) return;
  }
}

/** When the clock changes, and by how many minutes. */
function changesOf(of: Zone, from: number, until: number): string[] {
  const spans = offsetSpans(of, from, until);
  return spans
    .slice(1)
    .map(
      ({ startAt, offsetMs }, i) => `${formatInstant(startAt)} ${(offsetMs - (spans[i]?.offsetMs ?? 0)) / MINUTE_MS}`,
    );
}

describe("zone names", () => {
  test.each([
    { written: "Europe/Berlin", id: "Europe/Berlin" },
    { written: "europe/berlin", id: "Europe/Berlin" },
    { written: "AMERICA/NEW_YORK", id: "America/New_York" },
    { written: "US/Eastern", id: "US/Eastern" },
    { written: "utc", id: "UTC" },
    { written: "etc/gmt+5", id: "Etc/GMT+5" },
    { written: "GB", id: "GB" },
    { written: "EST5EDT", id: "EST5EDT" },
    { written: "+05:30", id: "+05:30" },
    { written: "-0330", id: "-03:30" },
    { written: "+01", id: "+01:00" },
    { written: "-00:00", id: "+00:00" },
  ])("$written is $id", ({ written, id }) => {
    expect(requireOk(zoneOf(written)).id).toBe(id);
    expect(requireOk(zoneOf(written))).toBe(requireOk(zoneOf(id)));
  });

  test.each([
    { name: "empty", written: "" },
    { name: "invented", written: "Europe/Atlantis" },
    { name: "blank before", written: " UTC" },
    { name: "blank after", written: "Europe/Berlin " },
    { name: "Z", written: "Z" },
    { name: "offset of a day", written: "+24:00" },
    { name: "offset with seconds", written: "+01:00:30" },
    { name: "offset without sign", written: "05:30" },
    { name: "time of day that carries an offset", written: "T1200+0530" },
    { name: "timestamp that carries a zone", written: "2026-01-01T00:00:00+01:00[Europe/Berlin]" },
    { name: "path", written: "../../etc/passwd" },
    { name: "a name with a newline", written: "Europe/Berlin\n" },
    { name: "100,000 letters", written: "a".repeat(100_000) },
  ])("rejects: $name", ({ written }) => {
    const problem = requireErr(zoneOf(written));
    expect(problem).toMatchObject({ code: "timezone-unknown", span: { start: 0, end: written.length } });
    expect(problem.message.length).toBeLessThan(100);
  });

  test("finds every zone of the engine in any capitals", () => {
    expect(ALL_ZONES.length).toBeGreaterThan(400);
    expect(ALL_ZONES.filter((id) => requireOk(zoneOf(id.toLowerCase())).id !== id)).toEqual([]);
  });
});

describe("offsets", () => {
  test.each([
    { id: "UTC", at: "2026-07-01T00:00:00Z", offset: 0 },
    { id: "+05:30", at: "2026-07-01T00:00:00Z", offset: 330 },
    { id: "-00:30", at: "2026-07-01T00:00:00Z", offset: -30 },
    { id: "Europe/Berlin", at: "2026-03-29T00:59:59.999Z", offset: 60 },
    { id: "Europe/Berlin", at: "2026-03-29T01:00:00Z", offset: 120 },
    { id: "Europe/Dublin", at: "2026-01-01T00:00:00Z", offset: 0 },
    { id: "Africa/Casablanca", at: "2026-03-01T00:00:00Z", offset: 0 },
    { id: "Africa/Monrovia", at: "1972-01-07T00:44:29.999Z", offset: -44.5 },
    { id: "Africa/Monrovia", at: "1972-01-07T00:44:30Z", offset: 0 },
    { id: "Pacific/Apia", at: "2011-12-30T09:59:59.999Z", offset: -600 },
    { id: "Pacific/Apia", at: "2011-12-30T10:00:00Z", offset: 840 },
  ])("$id at $at is $offset minutes ahead of UTC", ({ id, at, offset }) => {
    expect(zone(id).offsetMsAt(Date.parse(at))).toBe(offset * MINUTE_MS);
  });

  test.each([
    { id: "Australia/Lord_Howe", year: 2026, changes: ["2026-04-04T15:00:00Z -30", "2026-10-03T15:30:00Z 30"] },
    { id: "Antarctica/Troll", year: 2026, changes: ["2026-03-29T01:00:00Z 120", "2026-10-25T01:00:00Z -120"] },
    { id: "Pacific/Kwajalein", year: 1993, changes: ["1993-08-21T12:00:00Z 1440"] },
    { id: "America/Scoresbysund", year: 2024, changes: ["2024-10-27T01:00:00Z -60"] },
    { id: "America/Havana", year: 2026, changes: ["2026-03-08T05:00:00Z 60", "2026-11-01T05:00:00Z -60"] },
    { id: "Asia/Kathmandu", year: 2026, changes: [] },
  ])("$id changes its clock in $year as the database says", ({ id, year, changes }) => {
    expect(changesOf(zone(id), Date.UTC(year, 0, 1), Date.UTC(year + 1, 0, 1))).toEqual(changes);
  });

  test.each([["UTC"], ["+05:30"], ["Europe/Berlin"], ["Asia/Tokyo"]])("%s covers all time without holes", (id) => {
    const spans = [...spansOf(zone(id), fromAt, untilAt)];
    expect(spans[0]?.startAt).toBe(Number.NEGATIVE_INFINITY);
    expect(zone(id).spanAt(untilAt * 2).endAt).toBe(Number.POSITIVE_INFINITY);
    for (const [i, span] of spans.entries()) expect(spans[i + 1]?.startAt ?? span.endAt).toBe(span.endAt);
  });

  test.each([
    {
      name: "one span for a quiet zone, however long",
      id: "Asia/Tokyo",
      from: "1970-01-01T00:00:00Z",
      to: "2199-12-31T00:00:00Z",
      hours: [9],
    },
    {
      name: "cut at the ends",
      id: "Europe/Berlin",
      from: "2026-01-01T00:00:00Z",
      to: "2027-01-01T00:00:00Z",
      hours: [1, 2, 1],
    },
    {
      name: "an end on a change",
      id: "Europe/Berlin",
      from: "2026-03-29T01:00:00Z",
      to: "2026-10-25T01:00:00Z",
      hours: [2],
    },
    { name: "nothing", id: "Europe/Berlin", from: "2026-01-01T00:00:00Z", to: "2026-01-01T00:00:00Z", hours: [] },
  ])("S5: the spans a plan was made with: $name", ({ id, from, to, hours }) => {
    const spans = offsetSpans(zone(id), Date.parse(from), Date.parse(to));
    expect(spans.map(({ offsetMs }) => offsetMs / HOUR_MS)).toEqual(hours);
    expect(spans.reduce((total, { startAt, endAt }) => total + endAt - startAt, 0)).toBe(
      Date.parse(to) - Date.parse(from),
    );
  });

  test("asked about no number at all, breaks", () => {
    expect(() => zone("Europe/Berlin").offsetMsAt(Number.NaN)).toThrow("invariant broken");
    expect(() => zone("UTC").spanAt(Number.NaN)).toThrow("invariant broken");
  });

  test("agrees with Temporal anywhere", () => {
    const ids = PECULIAR_ZONES.map(({ id }) => id);
    fc.assert(
      fc.property(fc.constantFrom(...ids), fc.integer({ min: fromAt, max: untilAt - 1 }), (id, at) => {
        expect(zone(id).offsetMsAt(at)).toBe(temporalOffsetMs(id, at));
        const span = zone(id).spanAt(at);
        expect(span.startAt <= at && at < span.endAt).toBe(true);
      }),
      FUZZ,
    );
  });

  test(`agrees with Temporal on both sides of every change, 1970-2100 (${IS_LONG ? "all zones" : "a sample"})`, () => {
    const ids = IS_LONG ? ALL_ZONES : ALL_ZONES.filter((_, i) => i % 40 === 0);
    for (const id of ids) {
      for (const at of transitionsOf(id, 0, Date.UTC(2100, 0, 1))) {
        const seen = [zone(id).offsetMsAt(at - 1), zone(id).offsetMsAt(at)];
        expect([id, at, ...seen]).toEqual([id, at, temporalOffsetMs(id, at - 1), temporalOffsetMs(id, at)]);
      }
    }
  });
});

describe("S2: zones do not depend on the host's clock", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  test.each([
    { id: "Africa/Casablanca", why: "30 years without a change, then many" },
    { id: "Asia/Kathmandu", why: "one change in 230 years" },
    { id: "America/Argentina/Buenos_Aires", why: "seven years without a change" },
  ])("$id has the same changes under a clock that stands in 1970 ($why)", ({ id }) => {
    const now = offsetChanges(id, 0, Date.UTC(2040, 0, 1));
    vi.useFakeTimers({ now: 0, toFake: ["Date"] });
    expect(offsetChanges(id, 0, Date.UTC(2040, 0, 1))).toEqual(now);
    expect(now.length).toBeGreaterThan(0);
  });
});

describe("what the search relies on", () => {
  test("no offset differs from UTC by more than 14 hours, no change is larger than a day", () => {
    for (const { id } of PECULIAR_ZONES) {
      for (const span of spansOf(zone(id), fromAt, Date.UTC(2040, 0, 1))) {
        expect(Math.abs(span.offsetMs)).toBeLessThanOrEqual(14 * HOUR_MS);
        expect(Math.abs(span.offsetMs - zone(id).offsetMsAt(Math.max(fromAt, span.startAt - 1)))).toBeLessThanOrEqual(
          DAY_MS,
        );
      }
    }
  });
});
