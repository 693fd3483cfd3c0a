import { parseInstant } from "../../../core/time/instant.js";
import type { KronJob } from "../../../operator/kube/types.js";
import { type PeriodStory, storyOf } from "../../../operator/why.js";
import type { ParsedArgs } from "../../args.js";
import { EXIT, type ExitCode, usageError } from "../../exit.js";
import type { CliIo } from "../../io.js";
import { withKronJob } from "../../kube/one-kron-job.js";
import { printValue } from "../../output.js";

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const [written, ...more] = args.positionals;
  if (written === undefined || more.length > 0) {
    throw usageError("why takes one KronJob", "kubectl kron why NAME, or NAME@2026-03-01T00:00:00Z");
  }
  const [name = "", period] = written.split("@");
  if (period !== undefined && !parseInstant(period).ok) {
    throw usageError(`"${period}" is no period`, "write it like 2026-03-01T00:00:00Z");
  }
  const kronJob = await withKronJob(name, args, io, (target) => target.read());
  const story = storyOf(kronJob, period ?? null);
  await printValue(story, () => textOf(kronJob, story), args, io);
  return EXIT.ok;
}

function textOf({ metadata }: KronJob, { period_id, text, conditions }: PeriodStory): string {
  const head = `${metadata.namespace}/${metadata.name}${period_id === null ? "" : `@${period_id}`}: ${text}\n`;
  return [head, ...conditions.map((line) => `  ${line}\n`)].join("");
}
