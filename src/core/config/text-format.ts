/** What a text is that has no name to tell it: standard input, and files that people call as they like. */
import type { ConfigFormat } from "./formats.js";

/** The first lines that say something decide; what looks like nothing is read as YAML, which has the most to say. */
const LINES_LOOKED_AT = 200;
/** Five fields or a macro, and something to run; what is in them may be wrong. */
const SCHEDULED = /^(-?[\d*]\S*\s+[\d*]\S*\s+\S+\s+\S+\s+\S+|@[a-z]+)\s+\S/i;

export function formatOfText(text: string): ConfigFormat | "crontab" {
  const lines = text.split("\n", LINES_LOOKED_AT).map((line) => line.trim());
  const telling = lines.filter((line) => line !== "" && !line.startsWith("#"));
  const [first = ""] = telling;
  if (first.startsWith("{")) return "jsonl";
  const job = telling.find((line) => !/^\w+\s*=/.test(line)) ?? "";
  if (SCHEDULED.test(job))
    return /(^|\s)name=\S/.test(job) && /\s(command|http)=|\s@http\(/.test(job) ? "kron" : "crontab";
  return telling.length > 0 && telling.every((line) => /^\w+\s*=/.test(line)) ? "crontab" : "yaml";
}
