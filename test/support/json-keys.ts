/** How what commands print in JSON is spelled: small letters and underscores, however deep. */

/** What is below them is keyed by words of somebody else: headers, and endings and reasons that are counted. */
const OWN_KEYS: readonly string[] = ["headers", "secret_headers", "exits", "reasons", "env"];

/** Paths of the keys that are spelled otherwise. */
export function misspelled(value: unknown, path = ""): string[] {
  if (Array.isArray(value)) return [...new Set(value.flatMap((inner) => misspelled(inner, `${path}[]`)))];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    const at = `${path}.${key}`;
    if (OWN_KEYS.includes(key)) return [];
    return [...(/^[a-z0-9][a-z0-9_]*$/.test(key) ? [] : [at]), ...misspelled(inner, at)];
  });
}

/** `-o json` and `-o jsonl` alike. */
export function valuesIn(text: string): unknown[] {
  try {
    return [JSON.parse(text)];
  } catch {
    return text
      .trim()
      .split("\n")
      .map((line): unknown => JSON.parse(line));
  }
}
