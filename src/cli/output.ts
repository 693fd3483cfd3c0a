import { type OutputForm, outputForm, type ParsedArgs } from "./args.js";
import type { CliIo } from "./io.js";

/** A report as one value, or its rows line by line. */
export async function printReport(
  form: "json" | "jsonl",
  whole: unknown,
  rows: readonly unknown[],
  io: CliIo,
): Promise<void> {
  if (form === "json") await io.out(`${JSON.stringify(whole, null, 2)}\n`);
  else for (const row of rows) await io.out(`${JSON.stringify(row)}\n`);
}

/** One value in the form that was asked for; `jsonl` has a line for each element of a list. */
export async function printValue(value: unknown, text: () => string, args: ParsedArgs, io: CliIo): Promise<void> {
  const form: OutputForm = outputForm(args);
  if (form === "text") await io.out(text());
  else await printReport(form, value, Array.isArray(value) ? value : [value], io);
}
