/** What is of endpoints in JSON: the fields of the API, spelled as everything that commands print. */

/** Their keys are somebody's own. */
const OWN_KEYS: readonly string[] = ["headers", "secret_headers"];

export function published(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(published);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => {
    const name = snakeCase(key);
    return [name, OWN_KEYS.includes(name) ? inner : published(inner)] as const;
  });
  return Object.fromEntries(entries);
}

/** With what people call it in front. */
export function publishedAs(called: Readonly<Record<string, string>>, value: object): object {
  return { ...called, ...(published(value) as object) };
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
