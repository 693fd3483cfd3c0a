/** What a tenant has used, as it is stored: `q1|due|month|runs|day|calls|tokens`. */
import { packed, unpackedList } from "./compact.js";
import type { QuotaState } from "./quota.js";

const VERSION = "q1";
const NUMBERS = 6;

export function encodeQuota(state: QuotaState): string {
  const { dueUs, month, executions, day, plannerCalls, plannerTokens } = state;
  return [VERSION, ...[dueUs, month, executions, day, plannerCalls, plannerTokens].map(packed)].join("|");
}

/** null: it is none, or none of this version. */
export function decodeQuota(text: string): QuotaState | null {
  const prefix = `${VERSION}|`;
  const numbers = text.startsWith(prefix) ? unpackedList(text.slice(prefix.length), "|") : undefined;
  if (numbers?.length !== NUMBERS) return null;
  const [dueUs = 0, month = 0, executions = 0, day = 0, plannerCalls = 0, plannerTokens = 0] = numbers;
  return { dueUs, month, executions, day, plannerCalls, plannerTokens };
}
