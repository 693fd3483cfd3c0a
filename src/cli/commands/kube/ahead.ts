import { outputForm, type ParsedArgs } from "../../args.js";
import type { ExitCode } from "../../exit.js";
import type { CliIo } from "../../io.js";
import { oneJob } from "../../job-args.js";
import { soundDefinition, withKronJob } from "../../kube/one-kron-job.js";
import { momentArg } from "../../moments.js";
import { explainDefinition } from "../explain.js";
import { nextOfDefinition } from "../next.js";

export async function next(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  outputForm(args);
  const at = (await momentArg(args, "at", io)) ?? io.now();
  const kronJob = await withKronJob(oneJob(args, "next"), args, io, (target) => target.read());
  return nextOfDefinition(soundDefinition(kronJob), args, io, at);
}

export async function explain(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  outputForm(args);
  const at = (await momentArg(args, "at", io)) ?? io.now();
  const kronJob = await withKronJob(oneJob(args, "explain"), args, io, (target) => target.read());
  return explainDefinition(soundDefinition(kronJob), at, args, io);
}
