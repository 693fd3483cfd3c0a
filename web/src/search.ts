/** The one field by which jobs are looked for: words, patterns, and a few names with a colon. */

export interface Search {
  /** Parameters of the request, in the API's own names. */
  readonly parameters: readonly (readonly [name: string, value: string])[];
  /** Words that mean nothing here. */
  readonly unknown: readonly string[];
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const NAMED: Readonly<Record<string, readonly (readonly [string, string])[]>> = {
  "is:failing": [["isFailing", "true"]],
  "outcome:executed": [["outcomes", "executed"]],
  "outcome:skipped": [["outcomes", "skipped"]],
  "outcome:missed": [["outcomes", "missed"]],
  "outcome:unschedulable": [["outcomes", "unschedulable"]],
  "is:running": [["isRunning", "true"]],
  "is:held": [
    ["standings", "paused"],
    ["standings", "suspended"],
  ],
  "is:paused": [["standings", "paused"]],
  "is:suspended": [["standings", "suspended"]],
  "is:enabled": [["standings", "enabled"]],
};

export function readSearch(text: string, nowMs: number): Search {
  const parameters: (readonly [string, string])[] = [];
  const unknown: string[] = [];
  const plain: string[] = [];
  for (const word of text.split(/\s+/).filter((it) => it !== "")) {
    const soon = /^next<(\d{1,6})([smhd])$/.exec(word);
    if (NAMED[word] !== undefined) parameters.push(...NAMED[word]);
    else if (soon !== null) parameters.push(["dueBy", dueBy(Number(soon[1]) * (UNITS[soon[2] ?? ""] ?? 0), nowMs)]);
    else if (word.startsWith("tag:") && word.length > 4) parameters.push(["tags", word.slice(4)]);
    else if (/^[a-z]+[:<]/.test(word)) unknown.push(word);
    else if (/[*?]/.test(word)) parameters.push(["identities", word]);
    else plain.push(word);
  }
  if (plain.length > 0) parameters.push(["search", plain.join(" ")]);
  return { parameters, unknown };
}

/** To the minute, so that the same question is the same for a while. */
function dueBy(ms: number, nowMs: number): string {
  return new Date(Math.ceil((nowMs + ms) / 60_000) * 60_000).toISOString().replace(".000Z", "Z");
}

/** A word put in or taken out. */
export function toggled(text: string, word: string): string {
  const words = text.split(/\s+/).filter((it) => it !== "");
  const rest = words.filter((it) => it !== word);
  return (rest.length < words.length ? rest : [...words, word]).join(" ");
}
