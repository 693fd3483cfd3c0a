/** What `npm run bench` is told, and what it says to what it does not know. */
import { parseArgs } from "node:util";

const OPTIONS = {
  json: { type: "string" },
  quick: { type: "boolean", default: false },
  full: { type: "boolean", default: false },
  against: { type: "string" },
  document: { type: "boolean", default: false },
  check: { type: "boolean", default: false },
  save: { type: "boolean", default: false },
  help: { type: "boolean", short: "h", default: false },
};

export function usage(names) {
  return `Usage: npm run bench -- [NAME ...] [OPTIONS]
       npm run bench -- --document [FILE.json ...] [--check]

Measures Kron beside its peers. Without NAME everything is measured; there is:
  ${names.join(", ")}

  --quick      fewer rounds and smaller sets
  --full       also what needs a million jobs
  --against DIR  measure the built copy of Kron in DIR beside this one: steps, fire, commit, boot
  --json FILE  write the data into FILE
  --save       keep the data in bench/results
  --document   measure nothing: write docs/benchmarks.md from what was measured
  --check      with --document: only say whether the page would change
  -h, --help   show this
`;
}

/** `exit` is set when there is nothing to measure: then `out` or `err` is what is to be said. */
export function readArguments(argv, names) {
  let parsed;
  try {
    parsed = parseArgs({ args: argv, allowPositionals: true, options: OPTIONS });
  } catch (error) {
    if (!String(error?.code).startsWith("ERR_PARSE_ARGS_")) throw error;
    return refused(error.message.split(". ", 1)[0], names);
  }
  const { values, positionals } = parsed;
  if (values.help) return { exit: 0, out: usage(names) };
  const unknown = values.document ? [] : positionals.filter((name) => !names.includes(name));
  if (unknown.length > 0) return refused(`unknown name ${unknown.join(", ")}`, names);
  return { exit: null, values, positionals };
}

function refused(message, names) {
  return { exit: 2, err: `bench: ${message}\n\n${usage(names)}` };
}
