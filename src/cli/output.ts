import { type OutputForm, outputForm, type ParsedArgs } from "./args.js";
import type { CliIo } from "./io.js";

/** One value in the form that was asked for; `jsonl` has a line for each element of a list. */
export async function printValue(value: unknown, text: () => string, args: ParsedArgs, io: CliIo): Promise<void> {
  const form: OutputForm = outputForm(args);
  if (form === "text") await io.out(text());
  else if (form === "json") await io.out(`${JSON.stringify(value, null, 2)}\n`);
  else await io.out((Array.isArray(value) ? value : [value]).map((each) => `${JSON.stringify(each)}\n`).join(""));
}
