/** A pass carried out: one request after the other, each followed by what it led to, until nothing is left to be done. */
import type { Clock } from "../actors/clock.js";
import { KronError } from "../core/base/errors/kron-error.js";
import type { LostTime } from "../core/period/cause.js";
import type { KubeGateway } from "./gateway.js";
import { identityOf } from "./identity.js";
import type { KronJob } from "./kube/types.js";
import type { Effect, EffectResult } from "./plan/effects.js";
import type { News } from "./plan/news.js";
import { folded, nextEffect, type Pass } from "./plan/pass.js";

interface Listener {
  news(kronJob: KronJob, news: News): void;
  refused(kronJob: KronJob, error: KronError): void;
  /** When nobody could look, as far as it is known by now. */
  lostTimes(): readonly LostTime[];
  /** After every answer: a pass may be cut off at any moment. */
  moved(pass: Pass): void;
}

export async function carryOut(first: Pass, gateway: KubeGateway, clock: Clock, listener: Listener): Promise<Pass> {
  let pass = first;
  for (let effect = nextEffect(pass); effect !== null; effect = nextEffect(pass)) {
    const { kronJob } = pass.observed;
    const result = await gateway.perform(effect, kronJob);
    tell(effect, result, kronJob, listener);
    pass = folded(pass, result, clock.now(), listener.lostTimes());
    listener.moved(pass);
  }
  return pass;
}

/** Only what came true is told. */
function tell(effect: Effect, result: EffectResult, kronJob: KronJob, listener: Listener): void {
  if (result.kind === "refused") {
    // What is refused of Jobs becomes news of its own.
    if (effect.type === "writeStatus") listener.refused(kronJob, refusal(effect, result, kronJob));
    return;
  }
  for (const news of newsOf(effect, result)) listener.news(kronJob, news);
}

function newsOf(effect: Effect, { kind }: EffectResult): readonly News[] {
  switch (effect.type) {
    case "tell":
      return effect.news;
    case "writeStatus":
      return kind === "kronJob" ? effect.news : [];
    case "go":
      return kind === "job" ? [effect.news] : [];
    case "deleteJob":
      return kind === "done" ? [{ kind: "deleted", job: effect.name, reason: effect.reason }] : [];
    default:
      return [];
  }
}

function refusal(
  { type }: Effect,
  { code, message }: Extract<EffectResult, { readonly kind: "refused" }>,
  kronJob: KronJob,
): KronError {
  return new KronError(code, message, { component: "executor", operation: type, identity: identityOf(kronJob) });
}
