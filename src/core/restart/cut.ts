/**
 * JSON that Kron wrote itself, cut at marks instead of being parsed: a restart does it for every job there is. It is done
 * nowhere else, and properties hold each cut against the real reader. The marks cannot be met inside a text: there a
 * quotation mark has a backslash in front.
 */

import { ANY_POOL, poolOfNode } from "../job/pool.js";

/** Where a canonical text begins. */
const FIRST = '{"identity":"';
const SECOND = '","schedule":"';
/** What follows the scheduling rule. In a text quotation marks have a backslash in front: it is found nowhere else. */
const AFTER_RULE = ',"policy":{';
const SUSPEND = ',"suspend":';

/** A canonical text, taken apart without parsing it. */
interface CanonicalParts {
  /** The canonical text of the scheduling rule. */
  readonly ruleText: string;
  /** The same from the schedule on, without the identity: what jobs have in common. */
  readonly ruleTail: string;
  readonly isSuspended: boolean;
}

/** null when the text is not of the canonical form, or the identity is one that needs escapes. */
export function canonicalParts(text: string, identity: string): CanonicalParts | null {
  const identityEnd = FIRST.length + identity.length;
  if (!text.startsWith(FIRST) || !text.startsWith(identity, FIRST.length) || !text.startsWith(SECOND, identityEnd)) {
    return null;
  }
  const ruleEnd = text.indexOf(AFTER_RULE, identityEnd);
  const suspendAt = ruleEnd < 0 ? -1 : text.indexOf(SUSPEND, ruleEnd);
  if (suspendAt < 0) return null;
  return {
    ruleText: `${text.slice(0, ruleEnd)}}`,
    ruleTail: text.slice(identityEnd + 2, ruleEnd),
    isSuspended: text.startsWith("true", suspendAt + SUSPEND.length),
  };
}

const BEFORE_SCHEDULE = '"schedule":"';
const AFTER_SCHEDULE = '","timezone":"';

/** The schedule of a `ruleTail`; null when it is not of the canonical form. */
export function scheduleIn(ruleTail: string): string | null {
  const end = ruleTail.indexOf(AFTER_SCHEDULE);
  return end < 0 || !ruleTail.startsWith(BEFORE_SCHEDULE) ? null : ruleTail.slice(BEFORE_SCHEDULE.length, end);
}

/** The same `ruleTail` with another schedule in the place of its own. */
export function withSchedule(ruleTail: string, own: string, other: string): string {
  return BEFORE_SCHEDULE + other + ruleTail.slice(BEFORE_SCHEDULE.length + own.length);
}

const HISTORY = ',"History":[';
const AFTER_HISTORY = ['],"DefinedAt":"', '],"LastReason":"', '],"LastSlot":{'] as const;

/**
 * Cuts out the history: from the first place where it can begin to the last where it can end. In a text, a quotation mark
 * has a backslash in front, so neither place is inside one. What stands before the cut leaves one object open; what stands
 * behind it closes exactly that, or is no JSON, and then the whole text is parsed after all.
 */
export function withoutHistory(text: string): string | null {
  const start = text.indexOf(HISTORY);
  const end = historyEnd(text);
  // Where something runs another list may follow and be cut out too; what runs stands before and is seen.
  if (start < 0 || end < start) return null;
  return text.slice(0, start) + text.slice(end + 1);
}

function historyEnd(text: string): number {
  return Math.max(...AFTER_HISTORY.map((mark) => text.lastIndexOf(mark)));
}

const NO_HISTORY = ',"History":[]';
const ENTRY = '{"PeriodID":"';

/**
 * The newest entry of the history of a document of which nothing runs; empty: there is none. null where that cannot be
 * told, and the whole text is to be parsed: what runs may stand behind the history, and looks like an entry of it.
 */
export function newestEntryText(text: string): string | null {
  if (text.startsWith(NO_HISTORY, text.indexOf(HISTORY))) return "";
  const end = historyEnd(text);
  const start = end < 0 ? -1 : text.lastIndexOf(ENTRY, end);
  return start < 0 || text.includes(',"ActiveExecution":{') ? null : text.slice(start, end);
}

const USUAL_SUCCESS = '"success":["2xx"]';

/** Of a canonical definition text: whether it is one of a request that succeeds as most of them do. */
export function hasUsualSuccess(text: string): boolean {
  return text.includes(USUAL_SUCCESS);
}

const WITHOUT_DEADLINE = '"deadline":"0s","suspend":false';

/** Of a canonical definition text: whether the job is run, and only in its very second. */
export function isWithoutDeadline(text: string): boolean {
  return text.includes(WITHOUT_DEADLINE);
}

const [BEFORE_NODE, BEFORE_POOL] = [',"node":"', ',"pool":"'];

/** Of a canonical definition text: the pool whose nodes run the job. Their names need no escapes. */
export function poolIn(text: string): string {
  const policyAt = text.indexOf(AFTER_RULE);
  // A policy has nothing inside that closes one.
  const at = policyAt < 0 ? -1 : text.indexOf("}", policyAt) + 1;
  if (text.startsWith(BEFORE_NODE, at)) return poolOfNode(upToQuote(text, at + BEFORE_NODE.length));
  return text.startsWith(BEFORE_POOL, at) ? upToQuote(text, at + BEFORE_POOL.length) : ANY_POOL;
}

function upToQuote(text: string, start: number): string {
  return text.slice(start, text.indexOf('"', start));
}

const STOP = ',"stop":{';

/** Of a canonical definition text: whether the job may stop by itself (S51), which takes more than its rule to know. */
export function mayStop(text: string): boolean {
  return text.includes(STOP);
}

const WEBHOOK = '"webhook":{';

/** Of a canonical definition text; true where it only looks so. */
export function mayHaveWebhook(text: string): boolean {
  return text.includes(WEBHOOK);
}
