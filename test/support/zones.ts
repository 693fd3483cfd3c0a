import { Temporal } from "temporal-polyfill";
import { type Zone, zoneOf } from "../../src/core/time/zone.js";
import { requireOk } from "./results.js";

export function zone(id: string): Zone {
  return requireOk(zoneOf(id));
}

/** Every zone this engine lists, in a stable order. */
export const ALL_ZONES: readonly string[] = [...Intl.supportedValuesOf("timeZone"), "UTC"].sort();

/** Zones whose clock changes are unusual, each for its reason. */
export const PECULIAR_ZONES: readonly { readonly id: string; readonly why: string }[] = [
  { id: "UTC", why: "no offset at all" },
  { id: "Asia/Tokyo", why: "no change since 1951" },
  { id: "Asia/Kathmandu", why: "quarter of an hour, changed once by 15 minutes" },
  { id: "America/New_York", why: "the usual American rule" },
  { id: "Europe/Berlin", why: "the usual European rule" },
  { id: "Europe/London", why: "one hour ahead all year until 1971" },
  { id: "Europe/Dublin", why: "winter time is the negative one" },
  { id: "Europe/Lisbon", why: "changed its zone for four years" },
  { id: "Australia/Lord_Howe", why: "changes by 30 minutes" },
  { id: "Australia/Adelaide", why: "half an hour, southern summer" },
  { id: "Antarctica/Troll", why: "changes by two hours" },
  { id: "Antarctica/Casey", why: "changes back and forth by three hours, without a rule" },
  { id: "America/Scoresbysund", why: "changed its zone on the day of a clock change" },
  { id: "America/Nuuk", why: "changes on a Saturday evening, left out one change" },
  { id: "Africa/Casablanca", why: "an hour less during Ramadan" },
  { id: "Africa/El_Aaiun", why: "the same with another past" },
  { id: "Africa/Monrovia", why: "an offset with seconds until 1972" },
  { id: "Africa/Cairo", why: "changes at midnight, with years without" },
  { id: "Africa/Windhoek", why: "negative winter time until 1994" },
  { id: "Pacific/Apia", why: "left out a whole day in 2011" },
  { id: "Pacific/Kwajalein", why: "left out a whole day in 1993" },
  { id: "Pacific/Fakaofo", why: "left out a whole day in 2011, no other change" },
  { id: "Pacific/Kiritimati", why: "left out a day at the turn of a year" },
  { id: "Pacific/Norfolk", why: "a change by half an hour in 2015" },
  { id: "Pacific/Chatham", why: "45 minutes, changes at 2:45" },
  { id: "America/Havana", why: "the gap is at midnight" },
  { id: "Asia/Beirut", why: "the gap is at midnight" },
  { id: "America/Asuncion", why: "the gap is at midnight, ended in 2024" },
  { id: "America/Santiago", why: "the gap is at midnight" },
  { id: "America/Sao_Paulo", why: "the gap was at midnight" },
  { id: "Asia/Tehran", why: "the gap was at midnight, half an hour" },
  { id: "America/St_Johns", why: "changed at one minute past midnight" },
  { id: "America/Caracas", why: "moved by half an hour and back" },
  { id: "Asia/Pyongyang", why: "moved by half an hour and back" },
  { id: "Europe/Moscow", why: "moved to permanent summer and back" },
  { id: "Europe/Istanbul", why: "moved to permanent summer" },
  { id: "Asia/Gaza", why: "two pairs of changes in many years" },
  { id: "America/Boa_Vista", why: "seven days of summer in 2000" },
];

/** The clock changes of a zone as Temporal names them, found without our own zone code. */
export function transitionsOf(id: string, fromAt: number, untilAt: number): readonly number[] {
  const found: number[] = [];
  let cursor: Temporal.ZonedDateTime | null = Temporal.Instant.fromEpochMilliseconds(fromAt).toZonedDateTimeISO(id);
  while (cursor !== null && cursor.epochMilliseconds < untilAt) {
    cursor = cursor.getTimeZoneTransition("next");
    if (cursor !== null && cursor.epochMilliseconds < untilAt) found.push(cursor.epochMilliseconds);
  }
  return found;
}

export function temporalOffsetMs(id: string, at: number): number {
  return Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(id).offsetNanoseconds / 1e6;
}
