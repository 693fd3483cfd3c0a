/** The exit status of a command that ends because of an error: stable within a major version. */
import { type ErrorCode, errorKind } from "./registry.js";

const STATE_CODES: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  "state-unreadable",
  "state-missing",
  "state-damaged",
  "state-rewound",
  "state-document-corrupt",
  "state-permissions",
]);

export function exitStatusOf(code: ErrorCode): 2 | 3 | 4 | 5 {
  if (code === "lock-held") {
    return 4;
  }
  const { category } = errorKind(code);
  if (category === "ConfigurationError" || category === "ValidationError") {
    return 2;
  }
  return category === "IncompatibleStateError" || STATE_CODES.has(code) ? 3 : 5;
}
