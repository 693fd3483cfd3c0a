/**
 * Numbers in short texts, for what is written once for each endpoint or tenant. Whole numbers in base 36, and nothing is
 * read that would not be written the same way: a text has one meaning, and a meaning one text.
 */

const BASE = 36;
const NOTHING = "-";
const NUMBER = /^(?:0|[1-9a-z][0-9a-z]{0,10})$/;

export function packed(value: number | null): string {
  if (value === null) return NOTHING;
  if (!(Number.isSafeInteger(value) && value >= 0)) throw new Error(`invariant broken: ${value} cannot be packed`);
  return value.toString(BASE);
}

/** undefined: it is none. */
export function unpacked(text: string | undefined): number | undefined {
  if (text === undefined || !NUMBER.test(text)) return undefined;
  const value = Number.parseInt(text, BASE);
  return Number.isSafeInteger(value) ? value : undefined;
}

export function unpackedOrNull(text: string | undefined): number | null | undefined {
  return text === NOTHING ? null : unpacked(text);
}

/** All of them, or undefined. */
export function unpackedList(text: string, separator: string): readonly number[] | undefined {
  if (text === "") return [];
  const values: number[] = [];
  for (const part of text.split(separator)) {
    const value = unpacked(part);
    if (value === undefined) return undefined;
    values.push(value);
  }
  return values;
}
