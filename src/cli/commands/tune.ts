import { zoneDataVersion } from "../../actors/zone-data.js";
import { LIMITS } from "../../core/base/limits.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { applyEdits } from "../../core/forecast/tune/edit/edits.js";
import { DEFAULT_MAX_WINDOW_MS } from "../../core/forecast/tune/limits.js";
import { formatDuration } from "../../core/time/duration.js";
import { SECOND_MS } from "../../core/time/instant.js";
import { CONFIG_OPTION, countArg, type ParsedArgs } from "../args.js";
import type { Command } from "../command.js";
import { EXIT, type ExitCode, usageError } from "../exit.js";
import { choiceArg, durationArg, HORIZON_OPTIONS, horizonOf } from "../forecast/options.js";
import { replaceText } from "../forecast/replace-file.js";
import { readTuneFiles } from "../forecast/tune-files.js";
import { planTuning, type TuneWishes, type WrittenPlan } from "../forecast/tune-plan.js";
import { type TuneReport, tuneReport, tuneText } from "../forecast/tune-report.js";
import type { CliIo } from "../io.js";
import { loadAllJobs } from "../load.js";
import { paintFor } from "../style.js";

const FORMS = ["text", "json", "diff"] as const;
type Form = (typeof FORMS)[number];

const DEFAULT_FIXED_TAG = "fixed";

function wishesOf(args: ParsedArgs): TuneWishes {
  const maxWindowMs = durationArg(args, "max-window") ?? DEFAULT_MAX_WINDOW_MS;
  if (maxWindowMs % SECOND_MS !== 0 || maxWindowMs > LIMITS.windowMs) {
    throw usageError(`--max-window: a window lasts whole seconds, at most ${formatDuration(LIMITS.windowMs)}`);
  }
  return {
    targetPeak: args.text("target-peak") === undefined ? null : countArg(args, "target-peak", 1, 999_999_999),
    maxWindowMs,
    only: args.text("only") ?? null,
    fixedTag: args.text("fixed") ?? DEFAULT_FIXED_TAG,
    mayWiden: args.has("widen"),
    mayReseed: args.has("reseed"),
  };
}

async function write({ files }: WrittenPlan): Promise<string[]> {
  for (const { file, edits } of files) {
    await replaceText(file.path, file.name, file.text, applyEdits(file.text, edits));
  }
  return files.map(({ file }) => file.name);
}

async function print(form: Form, report: TuneReport, args: ParsedArgs, io: CliIo): Promise<void> {
  if (form === "json") await io.out(`${JSON.stringify(report, null, 2)}\n`);
  else if (form === "diff") await io.out(report.diff);
  else await io.out(tuneText(report, paintFor(args, io)));
}

async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const form = choiceArg(args, "output", FORMS, "text");
  const horizon = horizonOf(args, io);
  const wishes = wishesOf(args);
  const { jobs, files } = await loadAllJobs(args, io);
  const plan = planTuning(await readTuneFiles(files, jobs, io), horizon, wishes);
  const written = args.has("write") ? await write(plan) : [];
  const versions = { engineVersion: ENGINE_VERSION, tzVersion: zoneDataVersion() };
  await print(form, tuneReport(plan, horizon, versions, written), args, io);
  return EXIT.ok;
}

export const TUNE: Command = {
  name: "tune",
  summary: "propose windows that flatten the load, as a change to the files",
  usage: "[FILE...] [OPTIONS]",
  details: `
Finds the buckets of a forecast that are too full, and for jobs without a window in them the shortest windows that flatten
them; shows the peak before and after, and a unified diff of the files. Comments and form of the files stay. Nothing is
written without --write. A window is never longer than half the smallest gap between periods, nor than the job's own
deadline. Jobs with the tag "${DEFAULT_FIXED_TAG}", and those that say something about their window themselves, are left alone.

  kron tune jobs.yaml --target-peak 20
  kron tune jobs.yaml -o diff | patch -p1`,
  options: [
    { name: "output", short: "o", value: FORMS.join("|"), help: "form of the output (default: text)" },
    CONFIG_OPTION,
    ...HORIZON_OPTIONS,
    { name: "target-peak", value: "N", help: "starts a bucket may have (default: as flat as makes sense)" },
    {
      name: "max-window",
      value: "DURATION",
      help: `the longest window to propose (default: ${formatDuration(DEFAULT_MAX_WINDOW_MS)})`,
    },
    { name: "only", value: "GLOB", help: "only jobs whose identity or tag matches; * and ? stand for others" },
    { name: "fixed", value: "TAG", help: `leave jobs with this tag alone (default: ${DEFAULT_FIXED_TAG})` },
    { name: "widen", help: "also make windows wider that are there" },
    { name: "reseed", help: "also give jobs with a window another salt: all their times change" },
    { name: "write", help: "replace the files" },
  ],
  run,
};
