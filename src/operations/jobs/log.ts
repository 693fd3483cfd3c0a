/** What a run has printed, a piece at a time: also while it still prints. */
import { open } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { outputDirectoryOf } from "../../actors/supervisor/run/arm-request.js";
import type { EpochMs } from "../../core/time/instant.js";
import type { StateReader } from "../../persist/store.js";
import { daemonOperation } from "../operation.js";
import { entriesOf } from "../records/ledger-view.js";
import { LOG_ANSWER, type LogAnswer, type OutputAsked } from "../shapes/ahead.js";
import { identity, instant } from "../shapes/words.js";
import { mustExist } from "./existing.js";
import { type Begun, OutputFiles, RECORDS_LOOKED_AT } from "./output-files.js";

const PIECE_BYTES = 64 * 1024;
const OUTPUT = "output";

export const LOG = daemonOperation({
  name: "log",
  summary: "what a run of a job has printed, a piece at a time",
  http: { method: "GET", path: "/schedules/:identity/log" },
  // It may hold whatever its command prints.
  access: "operate",
  beginsSomething: false,
  input: z.strictObject({
    identity,
    /** The newest run that began, if it is left out. */
    periodAt: instant.optional(),
    /** Bytes that are known already; the end of it, if it is left out. */
    from: z.int().min(0).optional(),
    /** How much of it at most. */
    bytes: z.int().min(1).max(PIECE_BYTES).default(PIECE_BYTES),
  }),
  output: LOG_ANSWER,
  run: async (asked, { among, reader, stateDirectory }): Promise<LogAnswer> => {
    await mustExist(reader, asked.identity);
    const own = await outputIn(stateDirectory, asked, reader);
    // Of one period it lies in one place; which run is the newest all nodes have to say.
    if (among === null || (own.file !== null && asked.periodAt !== undefined)) return own;
    const all = [own, ...(await among.outputs(asked))];
    return all.reduce((newest, one) => ((one.file ?? "") > (newest.file ?? "") ? one : newest));
  },
});

/** What lies on this machine. */
export async function outputIn(
  stateDirectory: string,
  asked: OutputAsked,
  reader: Pick<StateReader, "ledgerLatest">,
): Promise<LogAnswer> {
  const { identity: of, periodAt, from, bytes } = asked;
  const directory = outputDirectoryOf(join(stateDirectory, OUTPUT), of);
  const begun = (): Promise<Begun> => begunLately(reader, of, periodAt);
  const file = await new OutputFiles(directory, periodAt ?? null, begun).newest();
  if (file === null) return { file, text: "", from: 0, next: 0, size: 0 };
  return { file, ...(await pieceOf(join(directory, file), from, bytes)) };
}

async function begunLately(
  reader: Pick<StateReader, "ledgerLatest">,
  identity: string,
  periodAt: EpochMs | undefined,
): Promise<Begun> {
  const before = periodAt === undefined ? [] : [periodAt + 1];
  const entries = entriesOf(await reader.ledgerLatest(identity, RECORDS_LOOKED_AT, ...before));
  return new Set(entries.flatMap((entry) => (entry.kind === "run" ? (entry.attemptId ?? []) : [])));
}

async function pieceOf(path: string, from: number | undefined, most: number): Promise<Omit<LogAnswer, "file">> {
  const handle = await open(path);
  try {
    const { size } = await handle.stat();
    // Its middle was dropped when its run ended: what is left was shown already.
    const start = from === undefined ? Math.max(0, size - most) : Math.min(from, size);
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(most), 0, most, start);
    const whole = wholeCharacters(buffer.subarray(0, bytesRead), start + bytesRead < size);
    return { text: whole.toString("utf8"), from: start, next: start + whole.length, size };
  } finally {
    await handle.close();
  }
}

/** Where a piece ends in the middle of a character, that one is left for the next. */
function wholeCharacters(bytes: Buffer, hasMore: boolean): Buffer {
  if (!hasMore) return bytes;
  let end = bytes.length;
  while (end > bytes.length - 4 && end > 0 && ((bytes[end - 1] ?? 0) & 0xc0) === 0x80) end -= 1;
  const isCut = end > 0 && (bytes[end - 1] ?? 0) >= 0xc0;
  return isCut ? bytes.subarray(0, end - 1) : bytes;
}
