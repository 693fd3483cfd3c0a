/** Which files are configuration, by their names. What reads them is elsewhere: nobody who asks has to wait for that. */
import { LIMITS } from "../base/limits.js";

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
