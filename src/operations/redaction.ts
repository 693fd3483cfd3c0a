/**
 * What must never reach a log is taken out here, whoever hands it in: environments, header values, keys, standard input,
 * and command lines unless they are allowed. Also bounds what one line can hold.
 */

import { ERRORS, type ErrorCode } from "../core/base/errors/registry.js";
import type { Fields } from "../core/base/fields.js";
import { memoised } from "../core/base/memo.js";

const REDACTED = "[redacted]";

export const LOG_FIELD_LIMITS = {
  textChars: 8 * 1024,
  elements: 100,
  depth: 6,
} as const;

/** Compared without case, `-` and `_`. */
const SECRET_KEYS: ReadonlySet<string> = new Set([
  ..."env environment headers header authorization proxyauthorization cookie setcookie".split(" "),
  ..."password passwd passphrase secret clientsecret token accesstoken refreshtoken".split(" "),
  ..."key keys apikey apikeys privatekey credentials stdin body".split(" "),
]);
const COMMAND_KEYS: ReadonlySet<string> = new Set(["command", "commandline", "cmd", "argv", "args"]);

/** Inside texts that come from elsewhere, such as the messages of errors. */
const SECRET_TEXTS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b([a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/@]{1,400}@/gi, `$1${REDACTED}@`],
  [/\b(Bearer|Basic)\s+[\w.~+/=-]{4,}/gi, `$1 ${REDACTED}`],
  [
    /\b(pass(?:word|wd|phrase)?|secret|token|api[_-]?key)(\s{0,5}[=:]\s{0,5}|\s)("[^"]*"|'[^']*'|\S+)/gi,
    `$1$2${REDACTED}`,
  ],
];

/** Problems of these fields quote what is written there, and so do their hints. */
const SECRET_PLACES = /^(?:env|stdin|http\.(?:headers|body|url))\b[^:]{0,200}: /;
const COMMAND_PLACES = /^command\b[^:]{0,200}: /;

export function redacted(fields: Fields, mayLogCommands: boolean): Record<string, unknown> {
  const safe = redactedFields(fields, mayLogCommands, 0);
  const message = messageWithoutQuotes(fields, mayLogCommands);
  return message === null ? safe : { ...safe, message, ...("hint" in safe ? { hint: REDACTED } : {}) };
}

/** Of trouble in a secret field its place and its kind are told, not the words that quote the value. */
function messageWithoutQuotes({ message, error_code: code }: Fields, mayLogCommands: boolean): string | null {
  if (typeof message !== "string") return null;
  const place = SECRET_PLACES.exec(message) ?? (mayLogCommands ? null : COMMAND_PLACES.exec(message));
  if (place === null) return null;
  return (
    place[0] + (typeof code === "string" && Object.hasOwn(ERRORS, code) ? ERRORS[code as ErrorCode].meaning : REDACTED)
  );
}

function redactedFields(fields: Fields, mayLogCommands: boolean, depth: number): Record<string, unknown> {
  const safe: Record<string, unknown> = {};
  for (const key of Object.keys(fields)) {
    const value = fields[key];
    const kind = kindOf(key);
    const isSecret = kind === "secret" || (kind === "command" && !mayLogCommands);
    const isThere = value !== null && value !== undefined;
    safe[key] = isSecret && isThere ? REDACTED : redactedValue(value, mayLogCommands, depth);
  }
  return safe;
}

type KeyKind = "secret" | "command" | "plain";

/** `API-Key`, `api_key` and `apiKey` are one name. */
const kindOf = memoised((key): KeyKind => {
  const name = key.toLowerCase().replace(/[-_]/g, "");
  if (SECRET_KEYS.has(name)) return "secret";
  return COMMAND_KEYS.has(name) ? "command" : "plain";
});

function redactedValue(value: unknown, mayLogCommands: boolean, depth: number): unknown {
  if (typeof value === "string") return redactedText(value);
  if (typeof value !== "object" || value === null) return typeof value === "bigint" ? value.toString() : value;
  if (depth >= LOG_FIELD_LIMITS.depth) return "[deeper]";
  if (value instanceof Error) return redactedText(value.message);
  if (!Array.isArray(value)) return redactedFields(value as Fields, mayLogCommands, depth + 1);
  const shown = value.slice(0, LOG_FIELD_LIMITS.elements).map((it) => redactedValue(it, mayLogCommands, depth + 1));
  return value.length > shown.length ? [...shown, `[${value.length - shown.length} more]`] : shown;
}

export function redactedText(text: string): string {
  const { textChars } = LOG_FIELD_LIMITS;
  const bounded = text.length > textChars ? `${text.slice(0, textChars)}[${text.length - textChars} more]` : text;
  if (!SUSPICIOUS.test(bounded)) return bounded;
  return SECRET_TEXTS.reduce((safe, [pattern, replacement]) => safe.replace(pattern, replacement), bounded);
}

/** Without one of these no pattern can match: nearly all texts are done with here. */
const SUSPICIOUS = /:\/\/|bearer|basic|pass|secret|token|api/i;
