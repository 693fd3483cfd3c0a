/** What the API server itself refuses: shapes of Jobs, and the two rules that guard a KronJob's status. */
import { type Fields, fieldsOf, mergedWith, Refusal, type Resource, type StoredObject } from "./store.js";

const JOB_FIELDS: ReadonlySet<string> = new Set([
  "activeDeadlineSeconds",
  "backoffLimit",
  "completionMode",
  "completions",
  "managedBy",
  "manualSelector",
  "parallelism",
  "podFailurePolicy",
  "selector",
  "suspend",
  "template",
  "ttlSecondsAfterFinished",
]);

export function judgeCreation({ name: resource }: Resource, body: Fields, isStrict: boolean): void {
  if (resource === "kronjobs" && body["kind"] === undefined) {
    throw new Refusal(400, "BadRequest", "the object provided is unrecognized: Object 'Kind' is missing");
  }
  if (resource !== "jobs") return;
  const spec = fieldsOf(body["spec"]);
  const unknown = Object.keys(spec).find((field) => !JOB_FIELDS.has(field));
  if (isStrict && unknown !== undefined) {
    throw new Refusal(400, "BadRequest", `strict decoding error: unknown field "spec.${unknown}"`);
  }
  const { backoffLimit } = spec;
  if (typeof backoffLimit === "number" && backoffLimit < 0) {
    const message = `spec.backoffLimit: Invalid value: ${backoffLimit}: must be greater than or equal to 0`;
    throw new Refusal(422, "Invalid", message);
  }
}

/** The transition rules of the CRD, word for word. */
export function judgeStatus(was: StoredObject, patch: Fields): void {
  if (patch["status"] === null) return;
  const before = fieldsOf(was["status"]);
  const after = fieldsOf(fieldsOf(mergedWith(was, patch))["status"]);
  const [old, next] = [before["lastPeriodID"], after["lastPeriodID"]];
  if (typeof old !== "string") return;
  if (typeof next !== "string" || next < old) {
    throw new Refusal(422, "Invalid", "lastPeriodID never decreases: a handled period stays handled");
  }
  if (next === old && before["lastOutcome"] !== after["lastOutcome"]) {
    throw new Refusal(422, "Invalid", "a period has one outcome");
  }
}
