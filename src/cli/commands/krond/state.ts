import { userInfo } from "node:os";
import { resolve } from "node:path";
import type { KronError } from "../../../core/base/errors/kron-error.js";
import type { Result } from "../../../core/base/result.js";
import { parseDocument } from "../../../core/state/parse.js";
import type { EpochMs } from "../../../core/time/instant.js";
import { exportSnapshot } from "../../../krond/state/snapshot.js";
import {
  checkStore,
  fencingRules,
  rewindJob,
  unusableDocuments,
  withLock,
  withStore,
} from "../../../krond/state/tools.js";
import { foundOr, type StorePlace } from "../../../persist/backends.js";
import { copiesIn } from "../../../persist/corrupt-copies.js";
import { importState } from "../../../persist/import.js";
import { recoverStore } from "../../../persist/recover.js";
import { CLOCKS_APART_MS } from "../../../persist/store.js";
import type { TransferReport } from "../../../persist/transfer.js";
import type { ParsedArgs } from "../../args.js";
import { mustHaveStore, readPlace, stateFailure } from "../../daemon.js";
import { EXIT, type ExitCode, usageError } from "../../exit.js";
import type { CliIo } from "../../io.js";
import { findJob, loadJobs, loadJobsIfAny } from "../../load.js";
import { printValue } from "../../output.js";
import { stateDirectoryOf } from "../../state-options.js";
import { storePlaceOf } from "../../store-option.js";

type Verb = (rest: readonly string[], args: ParsedArgs, io: CliIo) => Promise<ExitCode>;

function only(rest: readonly string[], usage: string): string {
  const [first, ...more] = rest;
  if (first === undefined || more.length > 0) throw usageError(`write: krond state ${usage}`);
  return first;
}

function unwrap<T>(result: Result<T, KronError>): T {
  if (!result.ok) throw stateFailure(result.error);
  return result.value;
}

function transferText({ documents, ledger, definitions, objects, damaged }: TransferReport): string {
  const others = objects === 0 ? "" : `, ${objects} objects of the API`;
  const lost = damaged === 0 ? "" : `; ${damaged} damaged entries were left behind`;
  return `${documents} documents, ${ledger} ledger records, ${definitions} definitions${others}${lost}\n`;
}

const exportTo: Verb = async (rest, args, io) => {
  const target = resolve(io.cwd, only(rest, "export DIR"));
  const place = foundOr(storePlaceOf(args, io));
  mustHaveStore(place);
  const report = unwrap(await exportSnapshot({ place, target, isLive: args.has("live") }));
  await printValue(report, () => transferText(report), args, io);
  const unusable = await readPlace(place, unusableDocuments);
  if (unusable.length === 0) return EXIT.ok;
  const lines = unusable.map((problem) => `  ${problem}\n`).join("");
  await io.err(`krond: everything was exported, also what this version cannot use:\n${lines}`);
  return EXIT.state;
};

const importFrom: Verb = async (rest, args, io) => {
  const source = resolve(io.cwd, only(rest, "import DIR"));
  const place = foundOr(storePlaceOf(args, io));
  const rules = { check: parseDocument };
  const report = unwrap(await withStore(place, (store, term) => importState(source, store, term, rules)));
  await printValue(report, () => transferText(report), args, io);
  return EXIT.ok;
};

const check: Verb = async (rest, args, io) => {
  if (rest.length > 0) throw usageError("write: krond state check");
  const report = await readPlace(foundOr(storePlaceOf(args, io)), checkStore);
  const { documents, ledger, definitions, problems } = report;
  const found = problems.length === 0 ? "everything is in order" : problems.join("\n");
  const counts = `${documents} documents, ${ledger} ledger records, ${definitions} definitions`;
  await printValue(report, () => `${counts}: ${found}\n`, args, io);
  return problems.length === 0 ? EXIT.ok : EXIT.state;
};

/** C12: what a server has lost was due before another one took over, by the clock of either machine. */
async function fenceUpTo({ backend }: StorePlace, io: CliIo): Promise<EpochMs> {
  if (backend.now === null) return io.now();
  return Math.max(io.now(), unwrap(await backend.now())) + CLOCKS_APART_MS;
}

const recover: Verb = async (rest, args, io) => {
  if (rest.length > 0 || !args.has("fence")) {
    throw usageError("write: krond state recover --fence", "everything up to now will count as handled for every job");
  }
  const place = foundOr(storePlaceOf(args, io));
  const { jobs } = place.backend.cluster === null ? await loadJobs(args, io) : { jobs: await loadJobsIfAny(args, io) };
  const definitions = jobs.map(({ definition }) => definition);
  const rules = fencingRules(definitions, copiesIn(stateDirectoryOf(args, io)), await fenceUpTo(place, io));
  const report = unwrap(await withLock(place, (term) => recoverStore(term, place.backend, rules)));
  const aside = report.movedAside.map((file) => `kept aside: ${file}\n`).join("");
  const text = () => `${report.found} documents found, ${report.fenced} fenced\n${aside}`;
  const { movedAside: moved_aside, ...counts } = report;
  await printValue({ ...counts, moved_aside }, text, args, io);
  return EXIT.ok;
};

const rewindOne: Verb = async (rest, args, io) => {
  const identity = only(rest, "rewind JOB");
  const { jobs } = await loadJobs(args, io);
  const { definition } = findJob(jobs, identity);
  const place = foundOr(storePlaceOf(args, io));
  const by = io.env["SUDO_USER"] || userInfo().username;
  const request = { identity, definition, by, now: io.now() };
  const done = withStore(place, (store, term) => rewindJob(store, term, request));
  const { from, to } = unwrap(await done);
  await printValue({ identity, from, to, by }, () => `${identity}: moved back from ${from} to ${to}\n`, args, io);
  return EXIT.ok;
};

const VERBS: Readonly<Record<string, Verb>> = {
  export: exportTo,
  import: importFrom,
  check,
  recover,
  rewind: rewindOne,
};

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const [name = "", ...rest] = args.positionals;
  const verb = Object.hasOwn(VERBS, name) ? VERBS[name] : undefined;
  if (verb === undefined) throw usageError(`state needs one of ${Object.keys(VERBS).join(", ")}`);
  return verb(rest, args, io);
}
