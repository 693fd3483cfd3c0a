/** Rows that come in pages, in the form that was asked for: nothing waits for the last one. */
import { outputForm, type ParsedArgs } from "./args.js";
import type { CliIo } from "./io.js";
import type { FittedTable } from "./table.js";

export async function printPages<T>(
  pages: AsyncIterable<readonly T[]>,
  table: FittedTable<T>,
  args: ParsedArgs,
  io: CliIo,
  published: (row: T) => unknown = (row) => row,
): Promise<void> {
  const form = outputForm(args);
  if (form === "jsonl") {
    for await (const rows of pages) await io.out(rows.map((row) => `${JSON.stringify(published(row))}\n`).join(""));
  } else if (form === "json") {
    await printArray(mapped(pages, published), io);
  } else {
    for await (const rows of pages) await io.out(table.text(rows));
    await io.out(table.end());
  }
}

async function* mapped<T>(pages: AsyncIterable<readonly T[]>, map: (row: T) => unknown): AsyncGenerator<unknown[]> {
  for await (const rows of pages) yield rows.map(map);
}

/** What JSON.stringify would make of the whole list. */
async function printArray(pages: AsyncIterable<readonly unknown[]>, io: CliIo): Promise<void> {
  let isFirst = true;
  for await (const rows of pages) {
    if (rows.length === 0) continue;
    const inner = JSON.stringify(rows, null, 2).slice(1, -2);
    await io.out(`${isFirst ? "[" : ","}${inner}`);
    isFirst = false;
  }
  await io.out(isFirst ? "[]\n" : "\n]\n");
}
