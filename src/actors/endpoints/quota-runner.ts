/**
 * A runner that asks for a tenant's share before anything is made ready for a run of its endpoints. Refused, the run could not
 * be started (S24): it is tried again until its deadline, and then the period or slot says so.
 */

import { isEndpoint } from "../../core/base/identity.js";
import { err, type Result } from "../../core/base/result.js";
import type { QuotaRefusal } from "../../core/endpoint/quota.js";
import type { Ending } from "../../core/state/ending.js";
import { type EpochMs, formatSecond } from "../../core/time/instant.js";
import { ForwardingRunner } from "../runner/forwarding-runner.js";
import type { Armed, ArmFailure, ArmRequest, GoOutcome, Runner } from "../runner/port.js";
import type { QuotaBook } from "./quota-book.js";

export class QuotaRunner extends ForwardingRunner {
  readonly #quotas: Pick<QuotaBook, "takeRun" | "giveBackRun">;
  /** By attempt: whose share was taken for what has not ended. */
  readonly #taken = new Map<string, string>();

  constructor(inner: Runner, quotas: Pick<QuotaBook, "takeRun" | "giveBackRun">) {
    super(inner);
    this.#quotas = quotas;
    inner.subscribe((event) => {
      if (event.kind === "gate-lost" || (event.kind === "ended" && isUntried(event.ending)))
        this.#giveBack(event.attemptId);
      else if (event.kind === "ended") this.#taken.delete(event.attemptId);
    });
  }

  override async arm(request: ArmRequest): Promise<Result<Armed, ArmFailure>> {
    if (request.kind !== "request" || !isEndpoint(request.identity)) return super.arm(request);
    const { identity, attemptId } = request;
    const refused = await this.#quotas.takeRun(identity);
    if (refused !== null) return err({ code: "quota-exceeded", message: refusalText(refused) });
    this.#taken.set(attemptId, identity);
    const armed = await super.arm(request);
    if (!armed.ok) this.#giveBack(attemptId);
    return armed;
  }

  override async go(armed: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    const outcome = await super.go(armed, latestAt);
    if (outcome !== "started") this.#giveBack(armed.attemptId);
    return outcome;
  }

  override async abort(armed: Armed): Promise<void> {
    this.#giveBack(armed.attemptId);
    await super.abort(armed);
  }

  #giveBack(attemptId: string): void {
    const identity = this.#taken.get(attemptId);
    if (identity === undefined) return;
    this.#taken.delete(attemptId);
    void this.#quotas.giveBackRun(identity).catch(() => undefined);
  }
}

const BEFORE_ANY_TRY: readonly string[] = ["worker-absent", "cancelled"];

/** S48: nobody has so much as tried to send it. What could not connect has had its turn. */
function isUntried(ending: Ending): boolean {
  if (ending.kind === "not-run") return true;
  return ending.kind === "failed" && !ending.isSent && BEFORE_ANY_TRY.includes(ending.reason);
}

function refusalText({ refused, retryAt }: QuotaRefusal): string {
  const what = refused === "month" ? "runs of this month" : "runs a minute";
  return `the tenant's ${what} are used up until ${formatSecond(retryAt)}`;
}
