import type { ErrorCode } from "../base/errors/registry.js";

/** Problems of a field's name rather than of its value: that is where they are shown. */
export const KEY_CODES: ReadonlySet<ErrorCode> = new Set([
  "field-unknown",
  "field-duplicate",
  "distribution-parameter-unknown",
  "environment-name",
]);
