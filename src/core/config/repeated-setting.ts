import type { LocatedProblem, LocatedSetting } from "./located.js";

/** A setting belongs to one place: with two, the order of the file names would decide. */
export function repeatedSetting(known: readonly LocatedSetting[], setting: LocatedSetting): LocatedProblem | null {
  const earlier = known.find(({ name }) => name === setting.name);
  if (earlier === undefined) return null;
  const message = `${setting.name} is already set at ${earlier.file}:${earlier.line}:${earlier.column}`;
  const problem = { code: "field-duplicate" as const, message, path: [setting.name] };
  const { file, line, column } = setting;
  return { problem, file, line, column, length: setting.name.length, identity: null };
}
