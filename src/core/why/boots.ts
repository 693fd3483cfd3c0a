/** What became of a boot of the machine, for a job that runs at boot (S44): it has no periods to ask about. */
import { isReboot } from "../cron/reboot.js";
import { isPaused } from "../period/policy.js";
import { reasonText } from "../period/reasons.js";
import { activeStates, standingOf } from "../state/document.js";
import { type EpochMs, formatInstant, formatSecond, parseInstant } from "../time/instant.js";
import { attemptsText, isRetryRunning } from "./attempts.js";
import { nobodyNow } from "./attended.js";
import type { Finding, WhyFacts } from "./facts.js";
import type { BootEntry, RunEntry, SlotEntry } from "./records.js";
import { runText } from "./texts.js";

interface BootFinding {
  /** Of the boot that the answer is about. */
  readonly slotAt: EpochMs;
  readonly finding: Finding;
}

/** About the newest boot up to the instant that is asked about; null: the job did not run at boot then. */
export function whyBoot(facts: WhyFacts): BootFinding | null {
  const { entries, nominalAt, versions } = facts;
  const version = versions.findLast(({ definedAt }) => definedAt <= nominalAt) ?? versions[0];
  if (version?.definition == null || !isReboot(version.definition.schedule)) return null;
  const boots = entries.filter((entry): entry is BootEntry => entry.kind === "boot" && entry.at <= nominalAt);
  const [first, ...others] = boots;
  if (first === undefined) return { slotAt: nominalAt, finding: { kind: "not_yet", text: "no boot is on record yet" } };
  const boot = others.reduce((newest, each) => (each.at > newest.at ? each : newest), first);
  return { slotAt: boot.at, finding: findingOf({ ...facts, nominalAt: boot.at }, boot) };
}

function findingOf(facts: WhyFacts, boot: BootEntry): Finding {
  const { entries } = facts;
  const ofBoot = (source: string | null, at: EpochMs): boolean => source === "reboot" && at === boot.at;
  const run = entries.find((entry): entry is RunEntry => entry.kind === "run" && ofBoot(entry.source, entry.at));
  if (run !== undefined) return ran(facts, run);
  const slot = entries.find((entry): entry is SlotEntry => entry.kind === "slot" && ofBoot(entry.source, entry.at));
  if (slot !== undefined) {
    const { outcome, reason, recordedAt } = slot;
    const why = reasonText(reason);
    return { kind: outcome, reason, text: `${outcome}: ${why} (recorded at ${recordedAt})` };
  }
  return boot.isDue ? notRun(facts, boot) : tooYoung(boot);
}

function ran(facts: WhyFacts, run: RunEntry): Finding {
  const isRunning = run.endedAt === null && isActive(facts);
  const text = isRunning
    ? `running since ${run.startedAt} (at boot)`
    : `executed at boot: ${runText(run)}${attemptsText(facts, run, runText)}`;
  const kind = isRunning || isRetryRunning(facts) ? "running" : "executed";
  return { kind, reason: run.ending?.reason ?? null, text, run };
}

function isActive({ document, nominalAt }: WhyFacts): boolean {
  const id = formatInstant(nominalAt);
  const active = document === null ? [] : activeStates(document);
  return active.some(({ Source, PeriodID }) => Source === "reboot" && PeriodID === id);
}

function tooYoung({ notedAt }: BootEntry): Finding {
  const text = `the job came after the first start of the daemon in this boot (noted at ${notedAt}); it waits for the next boot`;
  return { kind: "before_definition", reason: "before_definition", text };
}

/** Due, and neither run nor closed. */
function notRun(facts: WhyFacts, boot: BootEntry): Finding {
  const { document, versions, now, daemon } = facts;
  const due = parseInstant(document?.Boot?.Due?.Slot ?? "");
  if (document === null || !due.ok || due.value !== boot.at) {
    return { kind: "not_evaluated", text: "the machine or the job was changed again before it could be run" };
  }
  if (versions.at(-1)?.definition?.policy.suspend === true) return { kind: "suspended", text: "the job is suspended" };
  const standing = standingOf(document);
  if (isPaused(standing, now)) {
    return { kind: "paused", text: `the job is paused until ${formatSecond(standing.pausedUntilAt ?? now)}` };
  }
  if (document.Hints !== undefined) return { kind: "waiting", reason: "hinted", text: "a hint stands in for it" };
  const text = `due since ${formatSecond(boot.at)}`;
  return {
    kind: "waiting",
    text: daemon === "none" ? `${text}; ${facts.unserved == null ? "no daemon is running" : nobodyNow(facts)}` : text,
  };
}
