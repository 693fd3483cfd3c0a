/** What planners propose, in words for people. */
import { plainText } from "../core/base/plain-text.js";
import { formatDuration } from "../core/time/duration.js";
import { formatInstant, MINUTE_MS } from "../core/time/instant.js";
import type { Proposal, Situation } from "../planner/model.js";
import { RULE_NAMES } from "../planner/rules.js";
import type { Session } from "../planner/session.js";
import { plural } from "./format.js";

export function sessionText(session: Session, { endpoint, health }: Situation): string {
  const { "1h": hour } = health.windows;
  const rate = hour.successRate === null ? "" : `, ${Math.round(hour.successRate * 100)} % success`;
  const { failures } = health.streak;
  const streak = failures === 0 ? "" : `, ${plural(failures, "failure")} in a row`;
  const { proposals, kind } = session;
  const lines = [
    `${endpoint.name}: ${endpoint.baseline.text}; ${plural(hour.runs, "run")} in the last hour${rate}${streak}`,
    ...callLines(session),
    outcomeLine(session),
    ...proposals.map(
      (proposal) => `proposed: ${proposalText(proposal)}${kind === "chat" ? `: ${plainText(proposal.reason)}` : ""}`,
    ),
    ...(proposals.length === 0 ? ["proposed: nothing"] : []),
    `nothing was changed; it would be looked at again at ${formatInstant(session.nextAnalysisAt)}`,
  ];
  return `${lines.join("\n")}\n`;
}

/** What the model called; rules call nothing, and say all in their outcome. */
function callLines({ calls }: Session): readonly string[] {
  const called = calls.filter(({ name }) => !(RULE_NAMES as readonly string[]).includes(name));
  return called.map(
    ({ name, result, message }) => `  ${name}: ${result}${message === "" ? "" : `: ${plainText(message)}`}`,
  );
}

function outcomeLine({ kind, outcome: { code, message }, tokens }: Session): string {
  const isOwn = code === "proposed" || code === "nothing";
  if (kind === "rules" && isOwn) return `the rules: ${plainText(message)}`;
  const used = tokens.used === 0 ? "" : ` (${tokens.isEstimated ? "about " : ""}${plural(tokens.used, "token")})`;
  return `the model${used}: ${isOwn && message !== "" ? "" : code}${isOwn || message === "" ? "" : ": "}${plainText(message)}`;
}

export function proposalText(proposal: Proposal): string {
  switch (proposal.type) {
    case "interval":
      return `every ${formatDuration(proposal.intervalMs)} for ${ttlText(proposal.ttlMinutes)}`;
    case "oneshot":
      return `once at ${formatInstant(proposal.nextRunAt)}, good for ${ttlText(proposal.ttlMinutes)}`;
    case "pause_until":
      return `paused until ${formatInstant(proposal.until)}`;
    case "clear":
      return `the ${proposal.kind} in force is over`;
  }
}

function ttlText(minutes: number): string {
  return formatDuration(minutes * MINUTE_MS);
}
