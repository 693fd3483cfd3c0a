/**
 * KronJobs as they stand in files: manifests, and what `kubectl get -o yaml` prints. Each becomes the definition that the
 * operator schedules by, with trouble located as in any other file.
 */

import { readFile, stat } from "node:fs/promises";
import { type Document, isNode, LineCounter, parseAllDocuments } from "yaml";
import { type Fields, isFields } from "../../core/base/fields.js";
import type { Problem } from "../../core/base/problem.js";
import type { ConfigReading, LocatedJob, LocatedProblem } from "../../core/config/located.js";
import { definitionOf } from "../../operator/definition.js";
import { identityOf, KIND } from "../../operator/identity.js";
import type { KronJob } from "../../operator/kube/types.js";
import type { ConfigSource } from "../../persist/config-files.js";

/** A job that is a KronJob: it answers to its name, with or without the namespace. */
export interface LocatedKronJob extends LocatedJob {
  readonly kronJob: { readonly namespace: string; readonly name: string; readonly hasUid: boolean };
}

/** In the place of the uid that only an API server gives. */
const NO_UID = "uid-unknown";
const FILE_NAME = /\.(ya?ml|json)$/;
/** What a file of ours may hold in some text of its own. */
const NAMED = /\bKronJob(?:List)?\b/;
/** A file of ours has no such field: there it is refused as unknown. */
const IS_MANIFEST = /^(?:kind\s*:|[{[][\s\S]*"kind"\s*:)/m;
const MOST_BYTES = 64 * 1024 * 1024;

/** The same sources; of those that hold KronJobs it is given what was read there. */
export function withKronJobs(sources: readonly ConfigSource[]): Promise<readonly ConfigSource[]> {
  return Promise.all(sources.map(withReading));
}

async function withReading(source: ConfigSource): Promise<ConfigSource> {
  const { name, path, given, crontab } = source;
  if (crontab !== undefined) return source;
  const text = given === undefined ? await fileText(path) : given.text;
  const hasKronJobs = text !== null && NAMED.test(text) && IS_MANIFEST.test(text);
  return hasKronJobs ? { ...source, given: { text, format: "yaml", reading: readKronJobs(name, text) } } : source;
}

async function fileText(path: string): Promise<string | null> {
  if (!FILE_NAME.test(path)) return null;
  const found = await stat(path).catch(() => null);
  return found?.isFile() === true && found.size <= MOST_BYTES ? readFile(path, "utf8") : null;
}

type Path = readonly (string | number)[];

function readKronJobs(file: string, text: string): ConfigReading {
  const counter = new LineCounter();
  const jobs: LocatedKronJob[] = [];
  const problems: LocatedProblem[] = [];
  const find = (problem: Problem, offset: number, identity: string | null): void => {
    const { line, col: column } = counter.linePos(offset);
    problems.push({ problem, file, line, column, length: 1, identity });
  };
  for (const document of parseAllDocuments(text, { lineCounter: counter })) {
    for (const { message, pos } of document.errors) {
      find({ code: "file-syntax", message: message.split("\n")[0] ?? message, path: [] }, pos[0], null);
    }
    if (document.errors.length > 0) continue;
    for (const { value, path } of kronJobsIn(document.toJS() as unknown, [])) {
      const kronJob = completed(value);
      const identity = identityOf(kronJob);
      const definition = definitionOf(kronJob);
      if (!definition.ok) {
        for (const problem of definition.error) find(problem, offsetOf(document, [...path, ...problem.path]), identity);
        continue;
      }
      const { line, col: column } = counter.linePos(offsetOf(document, path));
      const { namespace, name, uid } = kronJob.metadata;
      const names = { namespace, name, hasUid: uid !== NO_UID };
      jobs.push({ definition: definition.value, file, line, column, kronJob: names });
    }
  }
  return { jobs, settings: [], problems };
}

/** One of them, or a list, as kubectl prints it. What else a file holds is passed over. */
function* kronJobsIn(value: unknown, path: Path): Generator<{ readonly value: Fields; readonly path: Path }> {
  if (!isFields(value)) return;
  if (value["kind"] === KIND) yield { value, path };
  const { items } = value;
  if (!Array.isArray(items)) return;
  for (const [index, item] of items.entries()) yield* kronJobsIn(item, [...path, "items", index]);
}

/** A manifest has no uid yet, and may leave out its namespace. */
function completed(value: Fields): KronJob {
  const metadata = isFields(value["metadata"]) ? value["metadata"] : {};
  const { name, namespace, uid } = metadata;
  return {
    ...value,
    spec: isFields(value["spec"]) ? value["spec"] : {},
    metadata: { ...metadata, name: name ?? "", namespace: namespace ?? "default", uid: uid ?? NO_UID },
  } as unknown as KronJob;
}

/** The value at a path, or the nearest thing that should have held it. */
function offsetOf(document: Document, path: Path): number {
  for (let length = path.length; length >= 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return node.range[0];
  }
  return 0;
}
