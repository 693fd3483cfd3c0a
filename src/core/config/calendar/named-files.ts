/**
 * Which files of dates a YAML file names: found before it is read as configuration, so that reading it needs no files.
 * Only the block of `calendars:` is parsed. What this does not find, the reader of the file reports as not read.
 */
import { isMap } from "yaml";
import { LIMITS } from "../../base/limits.js";
import { valueAt } from "../../job/issues.js";
import { yamlFile } from "../yaml/pieces.js";
import { YamlValues } from "../yaml/values.js";

/** As they are written, each once; `block` is that of `calendarsBlock`. */
export function calendarFilesNamed(block: string): readonly string[] {
  const { frame } = yamlFile(block, Number.POSITIVE_INFINITY);
  if (frame === null || frame.errors.length > 0 || !isMap(frame.root)) return [];
  const calendars = valueAt(new YamlValues().valueOf(frame, frame.root), ["calendars"]);
  if (typeof calendars !== "object" || calendars === null) return [];
  const files = Object.values(calendars).map((calendar) => valueAt(calendar, ["file"]));
  const named = files.filter((file): file is string => typeof file === "string" && file !== "");
  return [...new Set(named)].slice(0, LIMITS.calendars);
}
