/** What the page is told beside the API, as it is told. */
import type { SessionTold as Told } from "./sessions.js";

export interface SessionTold extends Told {
  /** Of whoever asks. */
  readonly isOwn: boolean;
}
