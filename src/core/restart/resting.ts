/**
 * What a restart needs to know of a job that rests: whether it can go into the timeline as it is, and when it is due.
 * Answers as a step of its machines would, without taking one: nearly every job of a restart is quiet, and a step costs
 * more than everything else that is done for it. 12 to 18 µs a job, where reading it all and a step take 28 to 42.
 */

import type { ErrorCode } from "../base/errors/registry.js";
import { jsonIn } from "../base/fields.js";
import { compileRule } from "../decision/compile.js";
import type { CompiledRule } from "../decision/model.js";
import { sha256Hex } from "../decision/seed.js";
import { definitionFromCanonical } from "../job/canonical.js";
import { type ContentHash, contentHashOf } from "../job/content-hash.js";
import type { JobDefinition } from "../job/definition.js";
import { canonicalRuleText, readJobDefinition } from "../job/schema.js";
import { type CronOccasion, liveOf, periodOf } from "../period/occasion.js";
import { parseDocument } from "../state/parse.js";
import { type EpochMs, floorToSecond } from "../time/instant.js";
import { canonicalParts, mayStop } from "./cut.js";
import { type PackedGlance, type Past, packGlance, plannedGlance, wholeGlance } from "./glance.js";
import { type DocumentMarks, marksOf, marksOfUsual } from "./marks.js";
import { outlook } from "./outlook.js";
import { pastIn } from "./past-in.js";
import { restingRule } from "./resting-rule.js";

/** In the order of their numbers. */
export const STANDINGS = [
  /** Nothing to write and nothing running: it goes into the timeline as it is. */
  "QUIET",
  /** Something is to be written or judged: it must be told that time was lost (S13). */
  "STEP",
  /** A definition is in force that the document does not know: it must be told the definition (S14, S16). */
  "DEFINE",
  /** Runs are on record: they must be adopted first (S29); what else holds for it is seen then. */
  "RUNNING",
  /** The document is not that of a removed job, but no definition is in force (S16). */
  "MISSING",
  /** Removed, and nothing to do. */
  "GONE",
  /** Its document cannot be read (S32). */
  "CORRUPT",
  /** Its definition cannot be read. */
  "UNREADABLE_DEFINITION",
] as const;

export type Standing = (typeof STANDINGS)[number];

/** What a store holds of one job. */
export interface StoredJob {
  /** Of the document: `hex(sha256(identity)).json`. */
  readonly key: string;
  /** null: there is no document. */
  readonly documentText: string | null;
  /** Whether the text is the one that was written under this key. */
  readonly isDocumentIntact: boolean;
  /** null: no definition was ever stored. */
  readonly identity: string | null;
  /** Of the newest version; null: removed, or never stored. */
  readonly definitionText: string | null;
  readonly isDefinitionIntact: boolean;
}

export interface PlanRules {
  readonly now: EpochMs;
  /** Texts carry checksums, so that an intact one is one that was written by Kron. */
  readonly isChecked: boolean;
  /** Intact definitions were written, or have been read before, by this version of the program. */
  readonly isCurrent: boolean;
}

export interface PlannedRow {
  /** Empty: nobody knows whose document it is. */
  readonly identity: string;
  readonly standing: Standing;
  readonly contentHash: ContentHash;
  /** Nominal time of the live period; null: there is none, or the job is not QUIET. */
  readonly liveAt: EpochMs | null;
  /** When the clock next changes something; null: never, or the job is not QUIET. */
  readonly wakeAt: EpochMs | null;
  /** null: the job is not QUIET. */
  readonly glance: PackedGlance | null;
  readonly trouble: Trouble | null;
}

interface Trouble {
  readonly code: ErrorCode;
  readonly message: string;
}

export function planJob(job: StoredJob, rules: PlanRules): PlannedRow {
  const { documentText, definitionText } = job;
  const contentHash = definitionText === null ? NO_CONTENT : contentHashOf(definitionText);
  const marks = documentText === null ? null : readMarks(job, documentText, rules);
  if (marks !== null && "code" in marks) return rowOf(job.identity ?? "", "CORRUPT", contentHash, marks);
  const identity = marks?.identity ?? job.identity ?? "";
  if (marks?.hasRuns === true) return rowOf(identity, "RUNNING", contentHash);
  if (!job.isDefinitionIntact) return rowOf(identity, "UNREADABLE_DEFINITION", contentHash, DAMAGED_DEFINITION);
  if (definitionText === null) {
    return rowOf(identity, marks === null || marks.isRemoved ? "GONE" : "MISSING", contentHash);
  }
  const rule = readRule(definitionText, identity, rules);
  if ("code" in rule) return rowOf(identity, "UNREADABLE_DEFINITION", contentHash, rule);
  if (marks === null || marks.isRemoved || !rule.hashes(marks.definitionHash)) {
    return rowOf(identity, "DEFINE", contentHash);
  }
  const { key, isDocumentIntact } = job;
  const isOwn = rules.isChecked && isDocumentIntact;
  const past = (): Past => pastIn({ key, documentText: documentText ?? "", definitionText, isOwn });
  return planQuiet({ identity, contentHash, marks, rule, past }, rules.now);
}

const NO_CONTENT: ContentHash = { high: 0, low: 0 };
const CORRUPT = "state-document-corrupt";
const DAMAGED_DOCUMENT: Trouble = { code: CORRUPT, message: "the text does not match its checksum" };
const DAMAGED_DEFINITION: Trouble = { code: CORRUPT, message: "the definition does not match its checksum" };

function rowOf(
  identity: string,
  standing: Standing,
  contentHash: ContentHash,
  trouble: Trouble | null = null,
): PlannedRow {
  return { identity, standing, contentHash, liveAt: null, wakeAt: null, glance: null, trouble };
}

/**
 * S32: a damaged text is corrupt. But where nobody is known whose it is and it is a document all the same, the key may be
 * what is damaged: then its own trouble says so.
 */
function readMarks(job: StoredJob, text: string, { isChecked }: PlanRules): DocumentMarks | Trouble {
  const usual = isChecked && job.isDocumentIntact ? marksOfUsual(text) : null;
  if (usual !== null && usual.identity === job.identity) return usual;
  const document = parseDocument(text, job.key);
  if (job.isDocumentIntact) return document.ok ? marksOf(document.value) : document.error;
  const isForeign = !document.ok && document.error.code !== CORRUPT && job.identity === null;
  return isForeign ? document.error : DAMAGED_DOCUMENT;
}

/** A definition, as far as it decides when its job is due. */
interface KnownRule {
  readonly compiled: CompiledRule;
  readonly isSuspended: boolean;
  /** S51: null: never. */
  readonly stopAt: EpochMs | null;
  /** Whether this is the hash of the rule (S14). */
  hashes(hash: string | null): boolean;
}

function readRule(text: string, identity: string, { isChecked, isCurrent }: PlanRules): KnownRule | Trouble {
  const parts = isChecked && isCurrent && !mayStop(text) ? canonicalParts(text, identity) : null;
  const compiled = parts === null ? null : restingRule(identity, parts.ruleTail);
  if (parts !== null && compiled !== null) {
    const { isSuspended, ruleText } = parts;
    return { compiled, isSuspended, stopAt: null, hashes: (hash) => sha256Hex(ruleText) === hash };
  }
  const definition = isChecked && isCurrent ? definitionOrNull(text) : null;
  return definition?.identity === identity ? ruleOf(definition, text) : readWholly(text, identity);
}

function definitionOrNull(text: string): JobDefinition | null {
  try {
    return definitionFromCanonical(text);
  } catch {
    return null;
  }
}

function readWholly(text: string, identity: string): KnownRule | Trouble {
  const raw = jsonIn(text);
  const read = readJobDefinition(raw, undefined, { mayUseReservedPrefix: true });
  if (!read.ok) {
    const [problem] = read.error;
    return problem ?? { code: "field-type", message: "the definition cannot be read" };
  }
  if (read.value.identity === identity) return ruleOf(read.value, text);
  return { code: "identity-invalid", message: "the definition is that of another job" };
}

/** A version of the program that writes rules differently must not take every rule for a new one. */
function ruleOf(definition: JobDefinition, text: string): KnownRule {
  const written = canonicalParts(text, definition.identity)?.ruleText;
  return {
    compiled: compileRule(definition),
    isSuspended: definition.policy.suspend,
    stopAt: definition.policy.stop?.at ?? null,
    hashes: (hash) =>
      hash === sha256Hex(canonicalRuleText(definition)) || (written !== undefined && hash === sha256Hex(written)),
  };
}

interface KnownJob {
  readonly identity: string;
  readonly contentHash: ContentHash;
  readonly marks: DocumentMarks;
  readonly rule: KnownRule;
  readonly past: () => Past;
}

/** What is not quiet is carried out by a step. */
function planQuiet(job: KnownJob, now: EpochMs): PlannedRow {
  const { identity, contentHash, marks, rule } = job;
  // S44: which boot of the machine it is, is told.
  if (rule.compiled.isReboot) return rowOf(identity, "STEP", contentHash);
  const look = outlook(rule, marks, now);
  // S14: that a period was passed over is noted when the definition comes into force.
  if (look.kind === "act" || (look.passed !== null && floorToSecond(now) === marks.definedAt)) {
    return rowOf(identity, "STEP", contentHash);
  }
  const { occasion, wakeAt } = look;
  const glance = quietGlance(job, liveOf(occasion), now);
  return { identity, standing: "QUIET", contentHash, liveAt: periodOf(occasion), wakeAt, glance, trouble: null };
}

function quietGlance({ marks, rule, past }: KnownJob, live: CronOccasion | null, now: EpochMs): PackedGlance {
  const { compiled, isSuspended, stopAt } = rule;
  const planned = plannedGlance({ compiled, isSuspended, stopAt, isRemoved: false, live }, marks, now);
  const { outcome, hasStartFailure } = marks;
  return packGlance(wholeGlance(planned, past(), { isRunning: false, outcome, hasStartFailure }));
}
