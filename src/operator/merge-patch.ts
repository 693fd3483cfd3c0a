/** JSON Merge Patch (RFC 7386): the one kind of patch that custom resources take, and the smallest one that does it. */
type Json = unknown;
type JsonObject = Readonly<Record<string, Json>>;

/** What turns `before` into `after`; null when they are equal. Lists are replaced as a whole. */
export function mergePatch(before: JsonObject, after: JsonObject): JsonObject | null {
  const patch: Record<string, Json> = {};
  for (const key of Object.keys(before)) {
    if (before[key] !== undefined && after[key] === undefined) patch[key] = null;
  }
  for (const [key, value] of Object.entries(after)) {
    const was = before[key];
    if (value === undefined) continue;
    if (isObject(value) && isObject(was)) {
      const inner = mergePatch(was, value);
      if (inner !== null) patch[key] = inner;
    } else if (!isSame(was, value)) patch[key] = value;
  }
  return Object.keys(patch).length === 0 ? null : patch;
}

function isObject(value: Json): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The API server keeps the order of keys that it was given, but need not. */
function isSame(one: Json, other: Json): boolean {
  if (one === other) return true;
  if (Array.isArray(one) && Array.isArray(other)) {
    return one.length === other.length && one.every((value, index) => isSame(value, other[index]));
  }
  if (!isObject(one) || !isObject(other)) return false;
  return mergePatch(one, other) === null;
}
