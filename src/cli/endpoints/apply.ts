/**
 * `kron endpoint apply`: endpoints become what a file says. All of it is judged by the daemon before anything is written, so
 * that a file with a mistake changes nothing; what is the same already is left alone.
 */
import { type Fields, isFields, without } from "../../core/base/fields.js";
import type { Problem } from "../../core/base/problem.js";
import { describeValue } from "../../core/job/issues.js";
import { ControlError } from "../../krond/control/client.js";
import type { EndpointAnswer, JobAnswer } from "../../operations/endpoints/shapes.js";
import type { ParsedArgs } from "../args.js";
import { CliError, EXIT } from "../exit.js";
import type { CliIo } from "../io.js";
import { type Applied, applied, writesSecretIn } from "./changes.js";
import { FieldsFile } from "./fields-file.js";
import { type Names, orMakeIt } from "./names.js";
import { type Ask, asked } from "./tenant.js";
import { strangeFields, within, withoutStrange } from "./written.js";

type Path = readonly (string | number)[];

interface Entry {
  readonly path: Path;
  /** As it is written, or that of the file. */
  readonly job: unknown;
  readonly fields: Fields;
}

interface Wanted {
  readonly path: Path;
  readonly label: string;
  readonly job: JobAnswer;
  readonly name: string;
  readonly fields: Fields;
  readonly before: EndpointAnswer | null;
}

/** Instead of a version: it is to be made, and not to take the place of another. */
const NOT_THERE = 0;
const FILE_FIELDS: readonly string[] = ["job", "endpoints"];

export class Application {
  readonly #file: FieldsFile;
  readonly #ask: Ask;
  readonly #names: Names;
  readonly #args: ParsedArgs;
  readonly #io: CliIo;
  readonly #problems: Problem[] = [];

  private constructor(file: FieldsFile, ask: Ask, names: Names, args: ParsedArgs, io: CliIo) {
    this.#file = file;
    this.#ask = ask;
    this.#names = names;
    this.#args = args;
    this.#io = io;
  }

  static async of(name: string, ask: Ask, names: Names, args: ParsedArgs, io: CliIo): Promise<Application> {
    return new Application(await FieldsFile.read(name, args, io), ask, names, args, io);
  }

  async run(): Promise<readonly Applied[]> {
    const wanted: Wanted[] = [];
    for (const entry of this.#entries()) {
      const found = await this.#wanted(entry);
      if (found !== null) wanted.push(found);
    }
    this.#refuseTwins(wanted);
    const judged: Applied[] = [];
    for (const each of wanted) {
      const answer = await this.#judged(each);
      if (answer !== null) judged.push(answer);
    }
    if (this.#problems.length > 0) throw await this.#file.refused(this.#problems, this.#args, this.#io);
    return this.#args.has("dry-run") ? judged : this.#carryOut(wanted, judged);
  }

  /** One endpoint, or a list of them. */
  #entries(): readonly Entry[] {
    const { fields } = this.#file;
    const among = this.#args.text("job");
    const { endpoints } = fields;
    const job = fields["job"] ?? among;
    if (endpoints === undefined) return [{ path: [], job, fields: without(fields, "job") }];
    const stray = Object.keys(fields).filter((name) => !FILE_FIELDS.includes(name));
    const hint = "fields of an endpoint stand in the list under endpoints:";
    const unknown = stray.map((name) => problemAt([name], "field-unknown", `unknown field "${name}"`, hint));
    this.#problems.push(...unknown);
    if (!Array.isArray(endpoints)) {
      const message = `expected a list of endpoints, got ${describeValue(endpoints)}`;
      this.#problems.push(problemAt(["endpoints"], "field-type", message));
      return [];
    }
    return endpoints.flatMap((entry: unknown, index): readonly Entry[] => {
      const path = ["endpoints", index];
      if (isFields(entry)) return [{ path, job: entry["job"] ?? job, fields: without(entry, "job") }];
      this.#problems.push(problemAt(path, "field-type", `expected a mapping, got ${describeValue(entry)}`));
      return [];
    });
  }

  /** null: something of it is wrong, and is told. */
  async #wanted({ path, job: written, fields }: Entry): Promise<Wanted | null> {
    const { name } = fields;
    const missing = missingIn(path, written, name);
    this.#problems.push(...within(path, strangeFields(fields)), ...missing);
    if (missing.length > 0 || typeof written !== "string" || typeof name !== "string") return null;
    const job = await this.#job(written, path);
    if (job === null) return null;
    const before = await this.#names.endpointNamed(job, name);
    return { path, label: `${job.name}/${name}`, job, name, fields: withoutStrange(fields), before };
  }

  async #job(written: string, path: Path): Promise<JobAnswer | null> {
    try {
      return await this.#names.job(written);
    } catch (error) {
      const isMissing = error instanceof CliError || (error instanceof ControlError && error.kind === "not-found");
      if (!isMissing) throw error;
      const hint = orMakeIt(error.hint ?? "'kron job list' shows them", written);
      this.#problems.push(problemAt([...path, "job"], "field-range", error.message, hint));
      return null;
    }
  }

  #refuseTwins(wanted: readonly Wanted[]): void {
    const first = new Set<string>();
    for (const { path, job, name, label } of wanted) {
      const key = `${job.id}/${name}`;
      if (first.has(key)) {
        this.#problems.push(problemAt([...path, "name"], "field-conflict", `${label} is in the file twice`));
      }
      first.add(key);
    }
  }

  async #judged(wanted: Wanted): Promise<Applied | null> {
    try {
      return await this.#upsert(wanted, true);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.#problems.push(...within(wanted.path, error.problems));
      return null;
    }
  }

  async #carryOut(wanted: readonly Wanted[], judged: readonly Applied[]): Promise<readonly Applied[]> {
    const done: Applied[] = [];
    for (const [index, each] of wanted.entries()) {
      const known = judged[index];
      try {
        const isSame = known?.result === "unchanged";
        done.push(isSame ? known : await this.#upsert(each, false));
      } catch (error) {
        throw halfWay(error, each.label, done.length, wanted.length);
      }
    }
    return done;
  }

  async #upsert({ label, job, fields, before }: Wanted, dryRun: boolean): Promise<Applied> {
    // Judged and written is the same version: what somebody changes meanwhile is not overwritten unseen.
    const ifMatch = before?.version ?? NOT_THERE;
    const request = { ...fields, op: "endpoints.upsert", jobId: job.id, dryRun, ifMatch };
    const answer = await asked<EndpointAnswer>(this.#ask, request, async (problems) => new Refused(problems));
    return applied(label, before, answer, writesSecretIn(fields));
  }
}

class Refused extends Error {
  constructor(readonly problems: readonly Problem[]) {
    super(problems.map(({ path, message }) => `${path.join(".")}: ${message}`).join("; "));
  }
}

/** What was written before stays: each endpoint is one change. */
function halfWay(error: unknown, label: string, done: number, all: number): unknown {
  if (!(error instanceof ControlError || error instanceof Refused)) return error;
  const hint = `${done} of ${all} endpoints were done before; apply it again to go on`;
  return new CliError(EXIT.usage, `${label}: ${error.message}`, hint);
}

function missingIn(path: Path, job: unknown, name: unknown): readonly Problem[] {
  const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
  const jobHint = "write job: NAME, or say --job NAME";
  return [
    ...(isText(job) ? [] : [missing([...path, "job"], job, jobHint)]),
    ...(isText(name) ? [] : [missing([...path, "name"], name)]),
  ];
}

function missing(path: Path, value: unknown, hint?: string): Problem {
  const field = String(path.at(-1));
  if (value === undefined) return problemAt(path, "field-missing", `missing field "${field}"`, hint);
  return problemAt(path, "field-type", `expected text, got ${describeValue(value)}`, hint);
}

function problemAt(path: Path, code: Problem["code"], message: string, hint?: string): Problem {
  return { code, message, path, ...(hint === undefined ? {} : { hint }) };
}
