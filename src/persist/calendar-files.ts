/** Opens the files of dates that a YAML file names, by the rules of configuration files, and reads their days. */
import type { FileHandle } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { calendarsBlock } from "../core/config/calendar/block.js";
import type { CalendarFiles } from "../core/config/calendar/definition.js";
import { readIcs } from "../core/config/calendar/ics.js";
import { LineIndex } from "../core/config/located.js";
import type { IntRange } from "../core/decision/rule.js";
import type { ConfigFiles, ConfigSource } from "./config-files.js";

/** Where a file is that the file of `source` calls `written`. */
export function calendarSource({ path, name }: ConfigSource, written: string): ConfigSource {
  return {
    path: resolve(dirname(path), written),
    name: isAbsolute(written) ? written : join(dirname(name), written),
  };
}

/** Told of each file that was read, by the path as it is written, in the order of the text. */
type SeenCalendar = (written: string, source: ConfigSource, bytes: Uint8Array) => void;

/** Files with problems are noted as findings, and stand in the answer as such. */
export async function readCalendarFiles(
  source: ConfigSource,
  text: string,
  files: ConfigFiles,
  seen: SeenCalendar = () => undefined,
): Promise<CalendarFiles> {
  const read = new Map<string, readonly IntRange[] | null>();
  const block = calendarsBlock(text);
  if (block === null) return read;
  const { calendarFilesNamed } = await import("../core/config/calendar/named-files.js");
  for (const written of calendarFilesNamed(block)) {
    const calendar = calendarSource(source, written);
    const use = async ({ handle }: { readonly handle: FileHandle }): Promise<readonly IntRange[] | null> => {
      const bytes = await handle.readFile();
      seen(written, calendar, bytes);
      return daysOf(calendar.name, bytes.toString("utf8"), files);
    };
    read.set(written, await files.readCalendar(calendar, source.name, use));
  }
  return read;
}

function daysOf(name: string, text: string, files: ConfigFiles): readonly IntRange[] | null {
  const { ranges, problems } = readIcs(name, text);
  const lines = new LineIndex(text);
  for (const located of problems) files.refuse({ located, sourceLine: lines.lineText(located.line) });
  return ranges;
}
