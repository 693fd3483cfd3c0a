/** The mix of P1: from every minute to the leap day, with the OR rule of the two day fields and with names. */
export const EXPRESSIONS = [
  "* * * * *",
  "*/5 * * * *",
  "0 * * * *",
  "30 2 * * *",
  "0 0 * * *",
  "15 3 * * 1-5",
  "0 9-17 * * MON-FRI",
  "0 0 1 * *",
  "0 12 1,15 * 1",
  "0 0 1 JAN *",
  "0 0 29 2 *",
  "23 4 * * SUN",
];

export const ZONES = ["UTC", "America/New_York", "Europe/Berlin", "Australia/Lord_Howe"];

const FROM = Date.UTC(2024, 0, 1);
const TO = Date.UTC(2034, 0, 1);

/** Pseudo-random starts 2024-2034, the same for everybody. */
export function starts(count) {
  let state = 0x2545f491;
  return Float64Array.from({ length: count }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return FROM + Math.floor((state / 2 ** 32) * (TO - FROM));
  });
}
