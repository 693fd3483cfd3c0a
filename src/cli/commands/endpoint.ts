/** `kron endpoint`: requests that are scheduled, made and changed while the daemon runs. */
import { endpointIdentity } from "../../core/endpoint/endpoint-name.js";
import type { EndpointAnswer, JobAnswer } from "../../operations/endpoints/shapes.js";
import { countArg, outputForm, type ParsedArgs } from "../args.js";
import { type Applied, applied, appliedText, publishedApplied, writesSecretIn } from "../endpoints/changes.js";
import { endpointColumns } from "../endpoints/columns.js";
import { ifMatchOf } from "../endpoints/if-match.js";
import { type NamedEndpoint, Names } from "../endpoints/names.js";
import { publishedAs } from "../endpoints/published.js";
import { hasTag, type Selection, selectionOf, tagsOf } from "../endpoints/selection.js";
import { pause, remove, resume, runNow } from "../endpoints/several.js";
import { endpointText, specOf } from "../endpoints/show.js";
import { asked, askOf, tenantOf, withTenant } from "../endpoints/tenant.js";
import type { Written } from "../endpoints/written.js";
import { EXIT, usageError } from "../exit.js";
import { plural } from "../format.js";
import type { CliIo } from "../io.js";
import { printPages } from "../list-output.js";
import { printValue } from "../output.js";
import { paintFor } from "../style.js";
import { FittedTable } from "../table.js";
import { only, runVerb, type VerbRun } from "../verbs.js";
import { ENDPOINT_VERBS } from "./specs/endpoint.js";

const MOST = 10_000_000;

const list: VerbRun = async (rest, args, io) => {
  if (rest.length > 0) throw usageError("list takes no arguments", "kron endpoint list --job JOB");
  const zone = args.has("local") ? (await import("../moments.js")).viewerZone(args, io) : null;
  const table = new FittedTable(endpointColumns(io.now(), zone), io.outColumns ?? null, paintFor(args, io));
  const most = countArg(args, "count", MOST, MOST);
  return withTenant(args, io, async (ask) => {
    const names = new Names(ask);
    const among = args.text("job");
    const of = among === undefined ? undefined : (await names.job(among)).id;
    await printPages(listed(names.endpoints(of), most, args), table, args, io, publishedEndpoint);
    return EXIT.ok;
  });
};

async function* listed(
  pages: AsyncIterable<readonly NamedEndpoint[]>,
  most: number,
  args: ParsedArgs,
): AsyncGenerator<readonly NamedEndpoint[]> {
  const [tags, isFailing] = [tagsOf(args), args.has("failed")];
  let left = most;
  for await (const rows of pages) {
    const wanted = rows.filter(({ endpoint }) => hasTag(endpoint, tags) && (!isFailing || fails(endpoint)));
    yield wanted.slice(0, left);
    left -= wanted.length;
    if (left <= 0) return;
  }
}

function fails({ trouble, failureCount }: EndpointAnswer): boolean {
  return trouble !== null || failureCount > 0;
}

function publishedEndpoint({ label, endpoint }: NamedEndpoint): object {
  return publishedAs({ endpoint: label }, endpoint);
}

const show: VerbRun = (rest, args, io) =>
  withTenant(args, io, async (ask) => {
    const names = new Names(ask);
    const found = await names.endpoint(only(rest, "endpoint show JOB/NAME"), args.text("job"));
    if (args.has("spec")) return showSpec(found, await names.jobName(found.endpoint.jobId), args, io);
    const text = (): string => endpointText(found, io.now(), paintFor(args, io));
    await printValue(publishedEndpoint(found), text, args, io);
    return EXIT.ok;
  });

async function showSpec(found: NamedEndpoint, job: string, args: ParsedArgs, io: CliIo): Promise<number> {
  const spec = specOf(found, job);
  const { stringify } = await import("yaml");
  await printValue(spec, () => stringify(spec, { lineWidth: 0 }), args, io);
  return EXIT.ok;
}

const create: VerbRun = async (rest, args, io) => {
  const { written } = await import("../endpoints/written.js");
  const wish = await written(args, io, null);
  return withTenant(args, io, async (ask) => {
    const { job, name } = await placeOf(rest, wish, new Names(ask), args);
    const dryRun = args.has("dry-run");
    const request = { ...wish.fields, name, op: "endpoints.create", jobId: job.id, dryRun };
    const answer = await asked<EndpointAnswer>(ask, request, wish.refusal);
    return told(applied(`${job.name}/${name}`, null, answer, false), args, io);
  });
};

/** As the command line says it, or else the file. */
async function placeOf(
  rest: readonly string[],
  { fields, job }: Written,
  names: Names,
  args: ParsedArgs,
): Promise<{ readonly job: JobAnswer; readonly name: string }> {
  const { name } = fields;
  const among = args.text("job") ?? (typeof job === "string" ? job : undefined);
  if (rest.length === 0 && typeof name === "string" && among !== undefined)
    return { job: await names.job(among), name };
  const place = await names.placeFor(only(rest, "endpoint create JOB/NAME --url URL --every 5m"), args.text("job"));
  if (name !== undefined && name !== place.name) throw usageError(`the file calls it ${JSON.stringify(name)}`);
  if (job !== undefined && job !== place.job.name) throw usageError(`the file says job: ${JSON.stringify(job)}`);
  return place;
}

const update: VerbRun = async (rest, args, io) => {
  const { written } = await import("../endpoints/written.js");
  return withTenant(args, io, async (ask) => {
    const names = new Names(ask);
    const before = await names.endpoint(only(rest, "endpoint update JOB/NAME --every 5m"), args.text("job"));
    const wish = await written(args, io, before.endpoint);
    if (Object.keys(wish.fields).length === 0)
      throw usageError("there is nothing to change", "say what with options or --file");
    const job = await names.jobName(before.endpoint.jobId);
    if (wish.job !== undefined && wish.job !== job)
      throw usageError("an endpoint stays with its job", "make it anew there");
    const { id: endpointId, version } = before.endpoint;
    // What an option leaves of the headers that there are was read from this version.
    const match = { ifMatch: version, ...ifMatchOf(args) };
    const request = { ...wish.fields, op: "endpoints.update", endpointId, dryRun: args.has("dry-run"), ...match };
    const answer = await asked<EndpointAnswer>(ask, request, wish.refusal);
    return told(applied(`${job}/${answer.name}`, before.endpoint, answer, writesSecretIn(wish.fields)), args, io);
  });
};

async function told(result: Applied, args: ParsedArgs, io: CliIo): Promise<number> {
  const isRehearsal = args.has("dry-run");
  await printValue(publishedApplied(result, isRehearsal), () => appliedText(result, isRehearsal), args, io);
  return EXIT.ok;
}

const apply: VerbRun = async (rest, args, io) => {
  const file = only(rest, "endpoint apply FILE");
  outputForm(args);
  // Files are read by those who have some.
  const { Application } = await import("../endpoints/apply.js");
  return withTenant(args, io, async (ask) => {
    const application = await Application.of(file, ask, new Names(ask), args, io);
    const results = await application.run();
    const isRehearsal = args.has("dry-run");
    const lines = (): string => results.map((each) => appliedText(each, isRehearsal)).join("");
    const text = (): string => `${lines()}${summaryOf(results, isRehearsal)}\n`;
    await printValue(
      results.map((each) => publishedApplied(each, isRehearsal)),
      text,
      args,
      io,
    );
    return EXIT.ok;
  });
};

function summaryOf(results: readonly Applied[], isRehearsal: boolean): string {
  const count = (result: Applied["result"]): string =>
    `${results.filter((each) => each.result === result).length} ${result}`;
  const counts = `${count("created")}, ${count("changed")}, ${count("unchanged")}`;
  return `${plural(results.length, "endpoint")}: ${counts}${isRehearsal ? "; nothing was done" : ""}`;
}

const hint: VerbRun = async (rest, args, io) => {
  const { hintEndpoints } = await import("./hint.js");
  const tenant = tenantOf(args);
  let selection: Selection | null = null;
  const hinted = {
    noun: "endpoint",
    select: async (client: Parameters<typeof askOf>[0]) => {
      selection = await selectionOf(new Names(askOf(client, args)), rest, args, "hint");
      return selection.group;
    },
    identityOf: (label: string): string => {
      if (selection === null) throw new Error("invariant broken: nothing was selected");
      const { jobId, id: endpointId } = selection.endpoint(label);
      return endpointIdentity({ tenant, jobId, endpointId });
    },
    published: (label: string, value: object): object => ({ endpoint: label, ...value }),
  };
  return hintEndpoints(hinted, args, io);
};

export function run(args: ParsedArgs, io: CliIo): Promise<number> {
  const verbs = { list, show, create, update, apply, pause, resume, hint, run: runNow, delete: remove };
  return runVerb(ENDPOINT_VERBS, verbs, args, io);
}
