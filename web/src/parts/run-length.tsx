/** Of a run that goes on: for how long, what is usual, and whether it should have ended by now. */
import type { JobRow } from "../shapes.js";
import { runTold } from "../usual.js";

export function RunLength({ job, startedAt }: { readonly job: JobRow; readonly startedAt: string }) {
  const { text, isOverdue } = runTold(job, startedAt);
  return (
    <>
      {text}
      {isOverdue && <span class="refusal"> · overdue</span>}
    </>
  );
}
