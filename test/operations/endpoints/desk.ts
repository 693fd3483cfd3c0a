/** Operations of tenants over a real supervisor on a pretended machine: weeks of an endpoint's life in a moment. */
import type { RequestArm } from "../../../src/actors/dispatcher/port.js";
import { isSealed, SecretBox } from "../../../src/actors/dispatcher/seal.js";
import type { SimulatedAnswer } from "../../../src/actors/dispatcher/simulated-dispatcher.js";
import { Analyst } from "../../../src/actors/endpoints/analyst.js";
import { HealthBook } from "../../../src/actors/endpoints/health-book.js";
import { QuotaBook } from "../../../src/actors/endpoints/quota-book.js";
import { QuotaRunner } from "../../../src/actors/endpoints/quota-runner.js";
import { NamedTurns } from "../../../src/actors/named-turns.js";
import type { ArmRequest, Runner } from "../../../src/actors/runner/port.js";
import type { SupervisorPorts } from "../../../src/actors/supervisor/port.js";
import type { SupervisorEvent } from "../../../src/actors/supervisor/write/events.js";
import { UnderWay } from "../../../src/actors/under-way.js";
import { WorkerDesk } from "../../../src/actors/workers/desk.js";
import { SplitDispatcher } from "../../../src/actors/workers/split.js";
import { err, ok, type Result } from "../../../src/core/base/result.js";
import { SETTINGS_DEFAULTS } from "../../../src/core/config/settings.js";
import { KRON } from "../../../src/core/governor/author.js";
import type { JobDefinition } from "../../../src/core/job/definition.js";
import { AuditTrail } from "../../../src/operations/audit/trail.js";
import { settleAll } from "../../../src/operations/endpoints/change.js";
import { CREATE_ENDPOINT } from "../../../src/operations/endpoints/endpoints.js";
import { CREATE_JOB } from "../../../src/operations/endpoints/jobs.js";
import type { EndpointAnswer, JobAnswer } from "../../../src/operations/endpoints/shapes.js";
import { Forecasts } from "../../../src/operations/forecast/forecasts.js";
import { RecentEnds } from "../../../src/operations/now/recent.js";
import { RunEnds } from "../../../src/operations/now/run-ends.js";
import { OperationError, type TenantOperation } from "../../../src/operations/operation.js";
import { LoginCodes } from "../../../src/operations/page/login-codes.js";
import { lookAt } from "../../../src/operations/planner/look.js";
import type { Planners } from "../../../src/operations/planner/planners.js";
import { SessionLog } from "../../../src/operations/planner/session-log.js";
import type { Acting } from "../../../src/operations/ports.js";
import { Chronicle } from "../../../src/operations/system/chronicle.js";
import type { ObjectWrite } from "../../../src/persist/store.js";
import { World } from "../../actors/supervisor/world.js";

type Asked = { readonly [field: string]: unknown };

export interface DeskOptions {
  readonly answer?: (request: RequestArm) => Partial<SimulatedAnswer>;
  readonly configured?: readonly JobDefinition[];
  readonly planner?: Pick<Planners, "usual" | "chat">;
}

export class Desk {
  readonly world: World;
  readonly box = new SecretBox(Buffer.alloc(32, 7));
  /** Requests as they were asked for. */
  readonly asked: RequestArm[] = [];
  readonly failures: unknown[] = [];
  /** Whoever follows what the supervisor tells. */
  onEvent: (event: SupervisorEvent) => void = () => undefined;
  health!: HealthBook;
  quotas!: QuotaBook;
  workers!: WorkerDesk;
  analyst!: Analyst;
  /** What keeps it from carrying out anything else. */
  ending = new AbortController();
  runEnds!: RunEnds;
  readonly #planner: Pick<Planners, "usual" | "chat">;
  readonly #configured: readonly JobDefinition[];
  #turns = new NamedTurns();
  #trail: AuditTrail | null = null;
  #putting = new UnderWay();
  #ports: SupervisorPorts | null = null;

  constructor({ answer, configured = [], planner = { usual: "off", chat: null } }: DeskOptions = {}) {
    this.#configured = configured;
    this.#planner = planner;
    this.world = new World({
      answer: (request) => {
        this.asked.push(request);
        return answer?.(request) ?? {};
      },
      between: (ports) => {
        const { clock, store: reader, term } = ports;
        const write = async (objects: readonly ObjectWrite[]): Promise<void> => {
          await reader.commit(term, { objects });
        };
        const books = { clock, reader, write, onFailure: (error: unknown) => this.failures.push(error) };
        this.health = new HealthBook(books);
        this.quotas = new QuotaBook(books);
        const onFailure = books.onFailure;
        this.analyst = new Analyst({ clock, onFailure });
        this.ending = new AbortController();
        this.runEnds = new RunEnds(clock);
        const { analyst, health, quotas } = this;
        this.#ports = {
          ...ports,
          runner: new QuotaRunner(this.#withWorkers(ports), quotas),
          onEvent: (event) => {
            ports.onEvent(event);
            this.runEnds.tell(event);
            if (event.event === "paused" && event.fields?.["by"] === KRON) {
              void this.#audit(ports).noteStop(event.identity ?? "");
            }
            this.onEvent(event);
          },
          onRunEnded: (identity, ending, at) => {
            health.ended(identity, ending, at);
            analyst.ended(identity);
          },
        };
        return this.#ports;
      },
    });
  }

  /** As in a daemon, where the world's own runner has everything else: what is sent, and processes. */
  #withWorkers({ clock, runner }: SupervisorPorts): Runner {
    this.workers = new WorkerDesk({ clock, unseal: (text) => opened(this.box.open(text)), pid: 1 });
    const arm = (request: ArmRequest) => (request.kind === "request" ? null : runner.arm(request));
    class Split extends SplitDispatcher {
      override arm(request: RequestArm) {
        return arm(request) ?? super.arm(request);
      }
    }
    return new Split(runner, this.workers) as unknown as Runner;
  }

  static async open(options: DeskOptions = {}): Promise<Desk> {
    const desk = new Desk(options);
    await desk.boot();
    return desk;
  }

  async boot(): Promise<void> {
    this.#turns = new NamedTurns();
    this.#trail = null;
    this.#putting = new UnderWay();
    await this.world.boot(this.#configured);
    this.health.keepTo((identity) => this.world.supervisor.has(identity));
    await settleAll(this.ports, (error) => this.failures.push(error));
    this.analyst.open({ look: (identity) => lookAt(this.ports, identity), mayStart: () => true });
  }

  #audit({ store: reader, term, clock }: SupervisorPorts): AuditTrail {
    const write = async (objects: readonly ObjectWrite[]): Promise<void> =>
      void (await reader.commit(term, { objects }));
    this.#trail ??= new AuditTrail({ reader, write, now: () => clock.now() });
    return this.#trail;
  }

  get ports(): Acting {
    const { world } = this;
    const ports = this.#ports;
    if (ports === null) throw new Error("no daemon runs");
    return {
      supervisor: world.supervisor,
      jobs: world.supervisor,
      among: null,
      health: this.health,
      quotas: this.quotas,
      audit: this.#audit(ports),
      workers: this.workers,
      logins: new LoginCodes(world.clock),
      forecasts: new Forecasts({ forecast: () => Promise.reject(new Error("not here")) }, ports.store),
      recent: new RecentEnds(),
      runEnds: this.runEnds,
      chronicle: new Chronicle(world.clock),
      term: ports.term,
      planners: {
        ...this.#planner,
        sessions: new SessionLog(),
        signal: this.ending.signal,
        told: () => undefined,
        changed: (identity) => this.analyst.forget(identity),
      },
      messenger: { undeliveredOf: () => ({ count: 0, error: null }) },
      putting: this.#putting,
      reader: ports.store,
      identities: () => world.supervisor.identities(),
      now: () => world.clock.now(),
      ledger: () => SETTINGS_DEFAULTS.ledger,
      presence: () => "running",
      stateDirectory: "/nowhere",
      addresses: () => SETTINGS_DEFAULTS.http,
      write: async (objects) => void (await ports.store.commit(ports.term, { objects })),
      seal: (text) => ok(this.box.seal(text)),
      inTurn: (name, act) => this.#turns.take(name, act),
      reload: () => Promise.reject(new Error("not here")),
      plan: () => Promise.reject(new Error("not here")),
      stop: () => undefined,
    };
  }

  /** As a transport asks: the input is read, and the answer must have the shape that is promised. */
  async ask<Answer>(
    operation: TenantOperation<string, never, Answer> | { readonly input: unknown },
    input: Asked,
    tenant = "acme",
    keyId: string | null = null,
  ): Promise<Answer> {
    const { input: shape, output, run } = operation as unknown as TenantOperation;
    const read = shape.safeParse(input);
    if (!read.success) throw new OperationError("bad-request", read.error.issues.map(({ message }) => message).join());
    const answer = await run(read.data, this.ports, { tenant, keyId, scope: "admin" });
    return output.parse(answer) as Answer;
  }

  job(name = "sync", tenant?: string): Promise<JobAnswer> {
    return this.ask(CREATE_JOB, { name }, tenant);
  }

  endpoint(jobId: string, more: Asked = {}, tenant?: string): Promise<EndpointAnswer> {
    const wish = { jobId, name: "users", url: "https://hooks.test/users", baselineIntervalMs: 300_000, ...more };
    return this.ask(CREATE_ENDPOINT, wish, tenant);
  }

  /** Opened as the dispatcher opens them. */
  secretOf(text: string | undefined): string | null {
    return text !== undefined && isSealed(text) ? this.box.open(text) : null;
  }
}

function opened(text: string | null): Result<string, string> {
  return text === null ? err("it was sealed with another key") : ok(text);
}
