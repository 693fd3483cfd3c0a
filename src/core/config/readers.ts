/** Which reader reads which file, by its name. */
import { LIMITS } from "../base/limits.js";
import { readJsonLine } from "./line/json-lines.js";
import { readKronLine } from "./line/kron-line.js";
import { readLines } from "./line/lines.js";
import type { ConfigReading } from "./located.js";
import { readYamlConfig, type YamlOptions } from "./yaml/reader.js";

export type ConfigFormat = "yaml" | "kron" | "jsonl";

const FORMATS: Readonly<Record<string, ConfigFormat>> = { yaml: "yaml", yml: "yaml", kron: "kron", jsonl: "jsonl" };

/** Null for names that are not configuration. */
export function configFormatOf(file: string): ConfigFormat | null {
  const extension = /\.([a-z]+)$/.exec(file)?.[1] ?? "";
  return Object.hasOwn(FORMATS, extension) ? (FORMATS[extension] ?? null) : null;
}

/** How large a file of this format may be, in bytes. */
export function configFileLimit(format: ConfigFormat): number {
  return format === "yaml" ? LIMITS.yamlFileBytes : LIMITS.lineFileBytes;
}

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
