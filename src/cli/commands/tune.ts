import type { Configuration } from "../../actors/pool/load/configuration.js";
import { zoneDataVersion } from "../../actors/zone-data.js";
import { LIMITS } from "../../core/base/limits.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { crontabYaml, exportedJobs } from "../../core/config/crontab/export.js";
import type { LocatedJob } from "../../core/config/located.js";
import { readConfigText } from "../../core/config/readers.js";
import { applyEdits } from "../../core/forecast/tune/edit/edits.js";
import { formatDuration } from "../../core/time/duration.js";
import { SECOND_MS } from "../../core/time/instant.js";
import type { ConfigSource } from "../../persist/config-files.js";
import { countArg, type ParsedArgs } from "../args.js";
import { type CliError, EXIT, type ExitCode, usageError } from "../exit.js";
import { choiceArg, horizonOf } from "../forecast/options.js";
import { replaceText } from "../forecast/replace-file.js";
import { type LooseText, readTuneFiles } from "../forecast/tune-files.js";
import { planTuning, type TuneWishes, type WrittenPlan } from "../forecast/tune-plan.js";
import { type TuneReport, tuneReport, tuneText } from "../forecast/tune-report.js";
import type { CliIo } from "../io.js";
import { configurationSources, loadSources } from "../load.js";
import { durationArg } from "../moments.js";
import { paintFor } from "../style.js";
import { DEFAULT_FIXED_TAG, DEFAULT_MAX_WINDOW_MS, TUNE_FORMS } from "./specs/tune.js";

type Form = (typeof TUNE_FORMS)[number];

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

interface Loose {
  readonly jobs: readonly LocatedJob[];
  readonly loose: ReadonlyMap<string, LooseText>;
  readonly files: readonly string[];
}

/** A crontab has no windows: what is tuned is the YAML that an import of it would print. */
function looseTexts(sources: readonly ConfigSource[], { jobs, files, crontabs }: Configuration): Loose {
  const loose = new Map<string, LooseText>();
  for (const { name, given } of sources) {
    if (given !== undefined && given.format !== "crontab") loose.set(name, { ...given, format: given.format });
  }
  const imported = crontabs.flatMap((reading) => {
    const text = crontabYaml(exportedJobs([reading]));
    loose.set(reading.file, { format: "yaml", text });
    return readConfigText("yaml", reading.file, text).jobs;
  });
  const own = jobs.filter(({ file }) => !crontabs.some((reading) => reading.file === file));
  return { jobs: [...own, ...imported], loose, files };
}

function cannotWrite(names: readonly string[]): CliError {
  const hint = "write a file first: kron import crontab FILE > jobs.yaml, then kron tune jobs.yaml --write";
  return usageError(`--write: ${names.join(", ")} cannot be written`, hint);
}

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const form = choiceArg(args, "output", TUNE_FORMS, "text");
  const horizon = await horizonOf(args, io);
  const wishes = wishesOf(args);
  const sources = await configurationSources(args, io);
  const { jobs, loose, files } = looseTexts(sources, await loadSources(sources, args, io));
  if (args.has("write") && loose.size > 0) throw cannotWrite([...loose.keys()]);
  const plan = planTuning(await readTuneFiles(files, jobs, loose, io), horizon, wishes);
  const written = args.has("write") ? await write(plan) : [];
  const versions = { engineVersion: ENGINE_VERSION, tzVersion: zoneDataVersion() };
  await print(form, tuneReport(plan, horizon, versions, written), args, io);
  return EXIT.ok;
}
