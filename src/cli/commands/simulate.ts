import { performance } from "node:perf_hooks";
import { zoneDataVersion } from "../../actors/zone-data.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { calledField } from "../../core/config/crontab/called.js";
import { formatInstant } from "../../core/time/instant.js";
import type { LedgerRecord } from "../../persist/store.js";
import { judge, type Verdict } from "../../simulation/expectations.js";
import type { Findings } from "../../simulation/report.js";
import { type SimulationObserver, simulate } from "../../simulation/simulation.js";
import { formatSpan } from "../../simulation/span.js";
import type { TimelineEntry } from "../../simulation/timeline.js";
import { type OutputForm, outputForm, type ParsedArgs } from "../args.js";
import { EXIT, type ExitCode } from "../exit.js";
import type { CliIo } from "../io.js";
import { readPlan, type SimulationPlan } from "../simulate-input.js";
import { headText, jobTable, summaryText, timelineLine } from "../simulate-text.js";
import { type Paint, paintFor } from "../style.js";
import { screenOf } from "../table.js";

const PROGRESS_EVERY_MS = 200;

/** Gathers what is to be printed and hands it over whenever the simulation looks up. */
class Printer implements SimulationObserver {
  isStopped = false;
  readonly timeline: TimelineEntry[] = [];
  readonly #startedMs = performance.now();
  readonly #paint: Paint;
  readonly #hasTimeline: boolean;
  readonly #hasProgress: boolean;
  #shownMs = 0;
  #text = "";
  readonly #form: OutputForm;
  readonly #plan: SimulationPlan;
  readonly #io: CliIo;

  constructor(form: OutputForm, plan: SimulationPlan, args: ParsedArgs, io: CliIo) {
    this.#form = form;
    this.#plan = plan;
    this.#io = io;
    this.#paint = paintFor(args, io);
    this.#hasTimeline = args.has("timeline");
    // Not into the lines that go by on the same terminal.
    const isStreaming = form === "jsonl" || (form === "text" && this.#hasTimeline);
    this.#hasProgress = io.isErrTerminal && !(isStreaming && io.isOutTerminal);
  }

  onTimeline(entry: TimelineEntry): void {
    if (!this.#hasTimeline) return;
    if (this.#form === "text") this.#text += timelineLine(entry, this.#paint);
    else if (this.#form === "jsonl") this.line({ type: "event", ...entry });
    else this.timeline.push(entry);
  }

  onLedger({ identity, at, kind, text }: LedgerRecord): void {
    if (this.#form !== "jsonl") return;
    this.line({ type: "ledger", identity, kind, about: formatInstant(at), ...(JSON.parse(text) as object) });
  }

  isInterrupted(): boolean {
    return this.isStopped;
  }

  async onProgress(elapsedMs: number): Promise<void> {
    // The turn of the event loop in which a signal is heard.
    await new Promise((resolve) => setImmediate(resolve));
    await this.flush();
    const nowMs = performance.now();
    if (!this.#hasProgress || nowMs - this.#shownMs < PROGRESS_EVERY_MS) return;
    this.#shownMs = nowMs;
    const { fromAt, toAt } = this.#plan;
    const share = Math.floor((elapsedMs / (toAt - fromAt)) * 100);
    await this.#io.err(`\r\u001b[K${share}%  ${formatSpan(wholeSeconds(elapsedMs))}  ${this.speedText(elapsedMs)}`);
  }

  async flush(): Promise<void> {
    const text = this.#text;
    this.#text = "";
    if (text !== "") await this.#io.out(text);
  }

  async clearProgress(): Promise<void> {
    if (this.#shownMs > 0) await this.#io.err("\r\u001b[K");
  }

  speedText(elapsedMs: number): string {
    const realMs = Math.max(performance.now() - this.#startedMs, 1);
    const spent = `${(realMs / 1000).toFixed(1)} s`;
    return `${formatSpan(wholeSeconds((elapsedMs / realMs) * 1000))} of simulated time per second (${spent})`;
  }

  line(value: object): void {
    this.#text += `${JSON.stringify(value)}\n`;
  }
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1000) * 1000;
}

async function printFindings(
  findings: Findings,
  verdicts: readonly Verdict[],
  printer: Printer,
  { form, plan, args, io }: { form: OutputForm; plan: SimulationPlan; args: ParsedArgs; io: CliIo },
): Promise<void> {
  const { jobs: found, ...summary } = findings;
  const descriptions = new Map(plan.loaded.definitions.map(({ identity, description }) => [identity, description]));
  const jobs = found.map(({ identity, ...job }) => {
    return { identity, ...calledField(identity, descriptions.get(identity) ?? ""), ...job };
  });
  if (form === "json") {
    const timeline = args.has("timeline") ? { timeline: printer.timeline } : {};
    await io.out(
      `${JSON.stringify({ seed: plan.seed, ...summary, expectations: verdicts, jobs, ...timeline }, null, 2)}\n`,
    );
    return;
  }
  if (form === "jsonl") {
    for (const job of jobs) printer.line({ type: "job", ...job });
    printer.line({ type: "summary", seed: plan.seed, ...summary, expectations: verdicts });
    await printer.flush();
    return;
  }
  const paint = paintFor(args, io);
  const gap = args.has("timeline") ? "\n" : "";
  const table = jobTable(jobs, args.has("all"), screenOf(args, io));
  await io.out(`${gap}${headText(findings, plan.seed)}\n${table}\n${summaryText(findings, verdicts, paint)}`);
}

function exitCodeOf({ figures, interrupted }: Findings, verdicts: readonly Verdict[]): ExitCode {
  // A promise that does not hold is a defect of Kron, whatever was expected.
  if (figures.violations > 0) return EXIT.fatal;
  if (verdicts.some(({ holds }) => !holds)) return EXIT.configuration;
  return interrupted ? EXIT.usage : EXIT.ok;
}

export async function run(args: ParsedArgs, io: CliIo): Promise<ExitCode> {
  const form = outputForm(args);
  const plan = await readPlan(args, io);
  const printer = new Printer(form, plan, args, io);
  const interrupt = (): void => {
    printer.isStopped = true;
  };
  process.once("SIGINT", interrupt);
  const versions = { tzVersion: zoneDataVersion(), engineVersion: ENGINE_VERSION };
  try {
    const findings = await simulate({ ...plan, versions }, printer);
    await printer.clearProgress();
    const verdicts = plan.expectations.map((expectation) => judge(expectation, findings.figures));
    await printFindings(findings, verdicts, printer, { form, plan, args, io });
    if (io.isErrTerminal || args.has("speed")) await io.err(`${printer.speedText(findings.simulated_ms)}\n`);
    return exitCodeOf(findings, verdicts);
  } finally {
    process.removeListener("SIGINT", interrupt);
  }
}
