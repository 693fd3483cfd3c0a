/** Values of settings: which of several assignments count, and what stands for yes. */
import type { Unit, UnitEntry } from "./unit.js";

/** Of a setting with one value the last assignment counts; null: there is none, or an empty one took it back. */
export function lastOf(unit: Unit, section: string, key: string): UnitEntry | null {
  return listOf(unit, section, key).at(-1) ?? null;
}

/** Of a setting with many values all count that come after an empty assignment. */
export function listOf({ entries }: Unit, section: string, key: string): readonly UnitEntry[] {
  const all = entries.filter((entry) => entry.section === section && entry.key === key);
  return all.slice(all.findLastIndex(({ value }) => value === "") + 1);
}

export function isTrue(value: string): boolean {
  return /^(1|y|yes|t|true|on)$/i.test(value);
}
