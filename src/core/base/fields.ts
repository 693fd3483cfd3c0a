/** What JSON holds, looked at without trust: whoever wrote it may have meant anything. */

export type Fields = Readonly<Record<string, unknown>>;

export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What has no fields is taken for an object without any. */
export function fieldsOf(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** null: it is no JSON, or no object. */
export function fieldsIn(text: string): Fields | null {
  const value = jsonIn(text);
  return isFields(value) ? value : null;
}

/** null: it says so, or it is no JSON. */
export function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

export function without(fields: Fields, key: string): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name !== key));
}

export function textOf(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

export function numberOf(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
