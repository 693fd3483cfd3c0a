/**
 * A runner whose runs are heard: what those print that are to be told (`output: { to: log }`) goes to a log, line by line,
 * with the job and the attempt. It only listens: everything it is asked is done by the runner behind it.
 */
import type { Result } from "../../core/base/result.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { Clock, Timer } from "../clock.js";
import type { OutputLabel, OutputPlan } from "../launcher/port.js";
import { ForwardingRunner } from "./forwarding-runner.js";
import { Allowance, OUTPUT_LINE_LIMITS } from "./output-lines.js";
import { OutputTail, type Seen } from "./output-tail.js";
import type { AdoptOutcome, AdoptRequest, Armed, ArmFailure, ArmRequest, GoOutcome, Runner } from "./port.js";

/** How often files are looked at. */
const LOOK_MS = 250;

export interface OutputListener {
  line(of: OutputLabel & { readonly attemptId: string }, line: string): void;
  leftOut(of: OutputLabel & { readonly attemptId: string }, lines: number, bytes: number): void;
}

interface Told {
  readonly of: OutputLabel & { readonly attemptId: string };
  readonly tail: OutputTail;
  readonly allowance: Allowance;
  linesLeftOut: number;
  bytesLeftOut: number;
}

export class ToldRunner extends ForwardingRunner {
  readonly #clock: Clock;
  readonly #listener: OutputListener;
  readonly #ofAll: Allowance;
  readonly #armed = new Map<string, Told>();
  readonly #running = new Map<string, Told>();
  #timer: Timer | null = null;

  constructor(inner: Runner, clock: Clock, listener: OutputListener) {
    super(inner);
    this.#clock = clock;
    this.#listener = listener;
    const { burstOfAll, perSecondOfAll } = OUTPUT_LINE_LIMITS;
    this.#ofAll = new Allowance(burstOfAll, perSecondOfAll, clock.monotonicMs());
    // The first to hear of an end: the last lines come before the line that the run is over.
    inner.subscribe((event) => {
      if (event.kind === "trouble") return;
      if (event.kind === "ended") this.#finish(event.attemptId);
      else this.#forget(event.attemptId);
    });
  }

  override async arm(request: ArmRequest): Promise<Result<Armed, ArmFailure>> {
    const told = request.kind === "process" ? this.#toldOf(request.attemptId, request.output) : null;
    if (told !== null) this.#armed.set(request.attemptId, told);
    const armed = await super.arm(request);
    if (!armed.ok) this.#forget(request.attemptId);
    return armed;
  }

  override async go(armed: Armed, latestAt: EpochMs): Promise<GoOutcome> {
    const outcome = await super.go(armed, latestAt);
    if (outcome === "started") this.#follow(armed.attemptId);
    else this.#forget(armed.attemptId);
    return outcome;
  }

  override abort(armed: Armed): Promise<void> {
    this.#forget(armed.attemptId);
    return super.abort(armed);
  }

  override async adopt(request: AdoptRequest): Promise<AdoptOutcome> {
    const { attemptId, output } = request;
    const told = output === null ? null : this.#toldOf(attemptId, output.plan);
    if (told !== null) {
      told.tail.skipToEnd();
      this.#armed.set(attemptId, told);
    }
    const outcome = await super.adopt(request);
    if (outcome === "watching") this.#follow(attemptId);
    else this.#forget(attemptId);
    return outcome;
  }

  /** What runs on is heard again by the next daemon. */
  override async close(): Promise<void> {
    for (const told of this.#running.values()) this.#tell(told, told.tail.look());
    for (const attemptId of [...this.#running.keys(), ...this.#armed.keys()]) this.#forget(attemptId);
    this.#timer?.cancel();
    this.#timer = null;
    await super.close();
  }

  #toldOf(attemptId: string, plan: OutputPlan): Told | null {
    if (plan.to !== "file" || plan.told === undefined) return null;
    const { burst, perSecond } = OUTPUT_LINE_LIMITS;
    const allowance = new Allowance(burst, perSecond, this.#clock.monotonicMs());
    const tail = new OutputTail(`${plan.directory}/${plan.name}`);
    return { of: { ...plan.told, attemptId }, tail, allowance, linesLeftOut: 0, bytesLeftOut: 0 };
  }

  #follow(attemptId: string): void {
    const told = this.#armed.get(attemptId);
    // Of a short run the end may have come before.
    if (told === undefined) return;
    this.#armed.delete(attemptId);
    this.#running.set(attemptId, told);
    this.#timer ??= this.#clock.after(LOOK_MS, () => this.#look());
  }

  #look(): void {
    for (const told of this.#running.values()) this.#tell(told, told.tail.look());
    this.#timer = this.#running.size === 0 ? null : this.#clock.after(LOOK_MS, () => this.#look());
  }

  #finish(attemptId: string): void {
    const told = this.#running.get(attemptId) ?? this.#armed.get(attemptId);
    if (told === undefined) return;
    this.#tell(told, told.tail.finish());
    this.#forget(attemptId);
  }

  #forget(attemptId: string): void {
    for (const known of [this.#armed, this.#running]) {
      const told = known.get(attemptId);
      known.delete(attemptId);
      told?.tail.close();
      if (told !== undefined) this.#tellLeftOut(told);
    }
  }

  #tell(told: Told, { lines, bytesLeftOut }: Seen): void {
    const nowMs = this.#clock.monotonicMs();
    told.bytesLeftOut += bytesLeftOut;
    for (const line of lines) {
      if (!told.allowance.take(nowMs) || !this.#ofAll.take(nowMs)) told.linesLeftOut += 1;
      else {
        // In its place, before what comes after it.
        this.#tellLeftOut(told);
        this.#listener.line(told.of, line);
      }
    }
  }

  #tellLeftOut(told: Told): void {
    const { linesLeftOut, bytesLeftOut } = told;
    if (linesLeftOut + bytesLeftOut === 0) return;
    told.linesLeftOut = 0;
    told.bytesLeftOut = 0;
    this.#listener.leftOut(told.of, linesLeftOut, bytesLeftOut);
  }
}
