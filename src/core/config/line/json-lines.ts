/** JSON Lines (`*.jsonl`): one definition a line, for generated sets of any size; read a line at a time. */

import type { Problem } from "../../base/problem.js";
import { valueAt } from "../../job/issues.js";
import { readJobDefinition } from "../../job/schema.js";
import type { Stretch } from "../located.js";
import { KEY_CODES } from "../problem-kinds.js";
import { writtenPart } from "../written-text.js";
import { type JsonPlace, jsonPlaces, parseJson } from "./json-text.js";
import { type LineReading, type LineSource, lineReading, tooLongLine } from "./lines.js";

/** Reads one line without its end; `job` is null when it is blank, or not a sound definition. */
export function readJsonLine(line: string, source: LineSource): LineReading {
  if (line.trim() === "") return { job: null, problems: [] };
  const tooLong = tooLongLine(line, source);
  if (tooLong !== null) return tooLong;
  const parsed = parseJson(line);
  if (!parsed.ok) return lineReading(source, 1, null, null, [parsed.error]);
  const identity = valueAt(parsed.value, ["identity"]);
  const read = readJobDefinition(parsed.value);
  const others = read.ok ? (source.against?.(read.value.identity) ?? []) : read.error;
  if (read.ok && others.length === 0) {
    return lineReading(source, line.search(/\S/) + 1, identity, read.value, []);
  }
  const places = jsonPlaces(line);
  const problems = others.map((problem) => ({ problem, ...placeOf(problem, places, line) }));
  return lineReading(source, 1, identity, null, problems);
}

function placeOf(problem: Problem, places: ReadonlyMap<string, JsonPlace>, line: string): Stretch {
  for (let depth = problem.path.length; depth >= 0; depth--) {
    const place = places.get(problem.path.slice(0, depth).join("\n"));
    if (place !== undefined) return depth === problem.path.length ? partOf(problem, place, line) : first(place, line);
  }
  return { start: 0, end: 1 };
}

function partOf({ code, span }: Problem, place: JsonPlace, line: string): Stretch {
  if (KEY_CODES.has(code) && place.key !== null) return place.key;
  const written = line.slice(place.start, place.end);
  return span === undefined || !written.startsWith('"')
    ? first(place, line)
    : writtenPart(written, place.start, "double", span);
}

/** Of an object or list its beginning: nobody wants half a line underlined. */
function first({ start, end }: Stretch, line: string): Stretch {
  return { start, end: line[start] === "{" || line[start] === "[" ? start + 1 : end };
}
