/** What is read by which reader. */
import type { ConfigFormat } from "./formats.js";
import { readJsonLine } from "./line/json-lines.js";
import { readKronLine } from "./line/kron-line.js";
import { readLines } from "./line/lines.js";
import type { ConfigReading } from "./located.js";
import { readYamlConfig, type YamlOptions } from "./yaml/reader.js";

/** What a text alone does not say: only YAML files have calendars, and they may name files of dates. */
type TextOptions = Pick<YamlOptions, "calendarFiles" | "against">;

export function readConfigText(
  format: ConfigFormat,
  file: string,
  text: string,
  options: TextOptions = {},
): ConfigReading {
  if (format === "yaml") return readYamlConfig(file, text, options);
  const read = format === "kron" ? readKronLine : readJsonLine;
  return readLines(file, text, read, options.against);
}
