import { formatSecond } from "../../../core/time/instant.js";
import { ANNOTATION } from "../../../operator/identity.js";
import type { ParsedArgs } from "../../args.js";
import { CliError, EXIT, type ExitCode, usageError } from "../../exit.js";
import type { CliIo } from "../../io.js";
import { oneJob } from "../../job-args.js";
import { withKronJob } from "../../kube/one-kron-job.js";
import { momentArg } from "../../moments.js";
import { printValue } from "../../output.js";

export async function runNow(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const slot = formatSecond(io.now());
  return withKronJob(oneJob(args, "run"), args, io, async (target) => {
    const { namespace, name } = target;
    const active = args.has("if-idle") ? ((await target.read()).status?.active ?? []) : [];
    if (active.length > 0) {
      const names = active.map((run) => run.name).join(", ");
      throw new CliError(
        EXIT.usage,
        `${namespace}/${name} is not idle: ${names}`,
        "without --if-idle it runs beside them",
      );
    }
    await target.annotate({ [ANNOTATION.run]: slot });
    const text = (): string => `asked for a run of ${namespace}/${name}, slot ${slot}\n`;
    await printValue({ namespace, name, slot }, text, args, io);
    return EXIT.ok;
  });
}

export async function pause(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const written = oneJob(args, "pause");
  const untilAt = await momentArg(args, "until", io);
  if (untilAt === undefined) throw usageError("a pause needs an end", "--until 2h, or --until 2026-03-01T00:00:00Z");
  const reason = args.text("reason");
  if (reason === undefined || reason === "") throw usageError("a pause needs a reason", '--reason "database upgrade"');
  const until = formatSecond(untilAt);
  return withKronJob(written, args, io, async (target) => {
    await target.annotate({ [ANNOTATION.pauseUntil]: until, [ANNOTATION.pauseReason]: reason });
    const { namespace, name } = target;
    const text = (): string => `${namespace}/${name} is paused until ${until}\n`;
    await printValue({ namespace, name, until, reason }, text, args, io);
    return EXIT.ok;
  });
}

export async function resume(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  return withKronJob(oneJob(args, "resume"), args, io, async (target) => {
    await target.annotate({ [ANNOTATION.pauseUntil]: null, [ANNOTATION.pauseReason]: null });
    const { namespace, name } = target;
    await printValue({ namespace, name }, () => `${namespace}/${name} goes on\n`, args, io);
    return EXIT.ok;
  });
}
