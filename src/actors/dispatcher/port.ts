/** What the dispatcher is asked for: one request of one job, and by whose rules it may be sent. */
import type { HttpSettings } from "../../core/config/settings.js";
import type { HttpTarget } from "../../core/job/definition.js";
import type { RunnerOf } from "../runner/runner-of.js";

export interface RequestArm {
  readonly kind: "request";
  readonly attemptId: string;
  readonly identity: string;
  /** The period or slot: with the identity it names the request for whoever receives it. */
  readonly periodId: string;
  /** RFC 3339: the chosen time. */
  readonly scheduledFor: string;
  readonly target: HttpTarget;
  readonly settings: HttpSettings;
  /** For whoever has to know more of an answer than its status and its body. */
  readonly onHead?: (status: number, headers: AnswerHeaders) => void;
}

/** By lower-cased name. */
export type AnswerHeaders = Readonly<Record<string, string | readonly string[] | undefined>>;

export type Dispatcher = RunnerOf<RequestArm>;
