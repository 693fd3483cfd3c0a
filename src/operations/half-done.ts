/** Among several nodes a change may be done, wholly or in part, and nobody be there to ask what came of it. */
import { KronError } from "../core/base/errors/kron-error.js";

/** Whether it was done is not known, or what of it. */
export function isUnknown(error: unknown): boolean {
  return error instanceof KronError && error.code === "node-silent";
}

/** What goes wrong with the rest of what is done already is no reason to say that nothing was. */
export function ofTheRest(error: unknown): unknown {
  if (!(error instanceof KronError) || error.code !== "job-unattended") return error;
  const { identity } = error;
  const about = identity === undefined ? {} : { identity };
  const message = `${error.message}; of what was asked for the rest is done`;
  return new KronError("node-silent", message, { component: "scheduler", operation: "ask", ...about });
}

/** Of something that is done. */
export async function afterwards<T>(rest: () => Promise<T>): Promise<T> {
  try {
    return await rest();
  } catch (error) {
    throw ofTheRest(error);
  }
}
