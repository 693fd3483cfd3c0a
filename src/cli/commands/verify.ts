import { createReadStream } from "node:fs";
import { resolve } from "node:path";
import { zoneDataVersion } from "../../actors/zone-data.js";
import { fileWords } from "../../core/base/errors/file-words.js";
import type { Fields } from "../../core/base/fields.js";
import { ENGINE_VERSION } from "../../core/base/version.js";
import { type Verification, verifyRecord } from "../../core/decision/verify.js";
import { outputForm, type ParsedArgs } from "../args.js";
import { parsed, recordsIn, recordsInLine } from "../decision-records.js";
import { CliError, EXIT, usageError } from "../exit.js";
import type { CliIo } from "../io.js";
import { type Paint, paintFor } from "../style.js";

/** One record that was found, and what came of recomputing it. */
interface Checked {
  readonly line: number;
  readonly identity: string;
  readonly periodId: string;
  readonly verification: Verification;
}

/** What is kept of a file that may be larger than memory: the differences, and counts of the rest. */
interface Tally {
  verified: number;
  different: number;
  /** Lines that hold something else: other events of a log. */
  otherLines: number;
}

const HINT = "logs, 'kron next' and 'kron history' with -o jsonl, and the ledger of 'krond state export' have them";

/** A JSON document over several lines is read as a whole up to this size; larger exports are one value a line. */
const WHOLE_DOCUMENT_CHARS = 64 * 1024 * 1024;

function check(record: Fields, line: number): Checked {
  const here = { tzVersion: zoneDataVersion(), engineVersion: ENGINE_VERSION };
  const text = (field: string): string => (typeof record[field] === "string" ? record[field] : "?");
  return { line, identity: text("identity"), periodId: text("period_id"), verification: verifyRecord(record, here) };
}

async function* linesOf(pieces: AsyncIterable<string>): AsyncIterable<string> {
  let rest = "";
  for await (const piece of pieces) {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  yield rest;
}

/**
 * One JSON value a line, as logs and exports have them. When no line holds a record, the file is tried as one document,
 * which is how `-o json` prints it.
 */
async function* checkedIn(lines: AsyncIterable<string>, tally: Tally): AsyncIterable<Checked> {
  const unread: string[] = [];
  let unreadChars = 0;
  let number = 0;
  let found = 0;
  for await (const line of lines) {
    number += 1;
    if (line.trim() === "") continue;
    const records = recordsInLine(line);
    found += records.length;
    for (const record of records) yield check(record, number);
    if (records.length > 0) continue;
    tally.otherLines += 1;
    unreadChars += line.length;
    if (found === 0 && unreadChars <= WHOLE_DOCUMENT_CHARS) unread.push(line);
  }
  const whole = found === 0 ? recordsIn(parsed(unread.join("\n"))) : [];
  if (whole.length > 0) tally.otherLines = 0;
  for (const record of whole) yield check(record, 1);
}

function openFile(file: string, io: CliIo): AsyncIterable<string> {
  if (file === "-") return io.input();
  const stream = createReadStream(resolve(io.cwd, file), { encoding: "utf8" });
  return (async function* () {
    try {
      for await (const piece of stream) yield String(piece);
    } catch (error) {
      throw new CliError(EXIT.usage, `cannot read ${file}: ${fileWords(error)}`);
    }
  })();
}

function differenceText(file: string, { line, identity, periodId, verification }: Checked, paint: Paint): string {
  const head = `${file}:${line}: ${paint.red("differs")} ${identity} ${periodId}\n`;
  const differences = verification.differences.map((difference) => `  ${difference.message}\n`);
  const notes = verification.notes.map((note) => `  ${paint.dim(`note: ${note}`)}\n`);
  return [head, ...differences, ...notes].join("");
}

function resultLine(file: string, { line, identity, periodId, verification }: Checked): string {
  const { ok, differences, notes } = verification;
  return `${JSON.stringify({ file, line, identity, period_id: periodId, ok, differences, notes })}\n`;
}

function summaryText({ verified, different, otherLines }: Tally): string {
  const others = otherLines === 0 ? "" : `, ${otherLines} other lines passed over`;
  return `${verified} verified, ${different} different${others}\n`;
}

/** What is found in one file; the differences, as they are published. */
async function verifyFile(file: string, tally: Tally, args: ParsedArgs, io: CliIo): Promise<unknown[]> {
  const form = outputForm(args);
  const paint = paintFor(args, io);
  const different: unknown[] = [];
  for await (const checked of checkedIn(linesOf(openFile(file, io)), tally)) {
    tally[checked.verification.ok ? "verified" : "different"] += 1;
    if (form === "jsonl") await io.out(resultLine(file, checked));
    else if (!checked.verification.ok && form === "text") await io.out(differenceText(file, checked, paint));
    else if (!checked.verification.ok) different.push(JSON.parse(resultLine(file, checked)));
  }
  return different;
}

/** Of an export many files hold no decision, such as those of jobs that never ran; none at all is no verification. */
export async function run(args: ParsedArgs, io: CliIo): Promise<number> {
  const files = args.positionals;
  if (files.length === 0) throw usageError("verify takes files, or - for standard input", "kron verify krond.log");
  const form = outputForm(args);
  const tally: Tally = { verified: 0, different: 0, otherLines: 0 };
  const differences: unknown[] = [];
  for (const file of files) differences.push(...(await verifyFile(file, tally, args, io)));
  const { verified, different, otherLines } = tally;
  if (verified + different === 0) {
    const names = files.length === 1 ? files[0] : `any of ${files.length} files`;
    throw new CliError(EXIT.configuration, `no decision record found in ${names}`, HINT);
  }
  if (form === "text") await io.out(summaryText(tally));
  if (form === "json") {
    const about = files.length === 1 ? { file: files[0] } : { files };
    const counts = { verified, different, other_lines: otherLines };
    await io.out(`${JSON.stringify({ ...about, ...counts, differences }, null, 2)}\n`);
  }
  return different === 0 ? EXIT.ok : EXIT.configuration;
}
