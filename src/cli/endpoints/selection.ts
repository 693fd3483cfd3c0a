/** Which endpoints a command for several of them is about. */
import { matchesGlob } from "../../core/job/identity-glob.js";
import type { EndpointAnswer } from "../../operations/endpoints/shapes.js";
import { OPERATION_LIMITS } from "../../operations/limits.js";
import type { ParsedArgs } from "../args.js";
import { usageError } from "../exit.js";
import type { Group } from "../group.js";
import type { NamedEndpoint, Names } from "./names.js";

export class Selection {
  readonly group: Group;
  readonly #byLabel: ReadonlyMap<string, EndpointAnswer>;

  constructor(found: readonly NamedEndpoint[], isGroup: boolean) {
    this.#byLabel = new Map(found.map(({ label, endpoint }) => [label, endpoint]));
    this.group = { identities: [...this.#byLabel.keys()], isGroup };
  }

  endpoint(label: string): EndpointAnswer {
    const found = this.#byLabel.get(label);
    if (found === undefined) throw new Error(`invariant broken: ${label} was not selected`);
    return found;
  }
}

export function tagsOf(args: ParsedArgs): readonly string[] {
  return (args.text("tag") ?? "").split(",").filter((tag) => tag !== "");
}

export async function selectionOf(
  names: Names,
  words: readonly string[],
  args: ParsedArgs,
  verb: string,
): Promise<Selection> {
  const [tags, among] = [tagsOf(args), args.text("job")];
  if (words.length === 0 && tags.length === 0) {
    throw usageError(`${verb} takes an endpoint`, `kron endpoint ${verb} JOB/NAME, 'JOB/*', or --tag TAG`);
  }
  if (words.length > OPERATION_LIMITS.filterWords)
    throw usageError(`more than ${OPERATION_LIMITS.filterWords} at once`);
  if (tags.length === 0 && !words.some(isPattern)) {
    const found: NamedEndpoint[] = [];
    for (const word of words) found.push(await names.endpoint(word, among));
    return new Selection(found, found.length > 1);
  }
  return new Selection(await matching(names, words, tags, among), true);
}

function isPattern(text: string): boolean {
  return /[*?]/.test(text);
}

async function matching(
  names: Names,
  patterns: readonly string[],
  tags: readonly string[],
  among: string | undefined,
): Promise<readonly NamedEndpoint[]> {
  const jobId = among === undefined ? undefined : (await names.job(among)).id;
  const textOf = ({ label, endpoint }: NamedEndpoint): string => (among === undefined ? label : endpoint.name);
  const found: NamedEndpoint[] = [];
  const useful = new Set<string>();
  for await (const rows of names.endpoints(jobId)) {
    for (const row of rows) {
      const met = patterns.filter((pattern) => matchesGlob(pattern, textOf(row)) || pattern === row.endpoint.id);
      if ((patterns.length > 0 && met.length === 0) || !hasTag(row.endpoint, tags)) continue;
      found.push(row);
      for (const pattern of met) useful.add(pattern);
    }
  }
  const tagged = tags.length === 0 ? "" : ` with the tag ${tags.join(" or ")}`;
  const idle = patterns.find((pattern) => !useful.has(pattern));
  if (idle !== undefined) throw usageError(`"${idle}" matches no endpoint${tagged}`, SEE);
  if (found.length === 0) throw usageError(`there is no endpoint${tagged}`, SEE);
  return found;
}

const SEE = "'kron endpoint list' shows all of them";

export function hasTag({ tags }: EndpointAnswer, wanted: readonly string[]): boolean {
  return wanted.length === 0 || tags.some((tag) => wanted.includes(tag));
}
