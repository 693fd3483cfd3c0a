/** What a run has printed, a piece at a time: also while it still prints. */
import { open, readdir } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { outputDirectoryOf } from "../../actors/supervisor/run/arm-request.js";
import { formatInstant } from "../../core/time/instant.js";
import { daemonOperation } from "../operation.js";
import { LOG_ANSWER, type LogAnswer, type OutputAsked } from "../shapes/ahead.js";
import { identity, instant } from "../shapes/words.js";
import { mustExist } from "./existing.js";

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
    /** The newest run, if it is left out. */
    periodAt: instant.optional(),
    /** Bytes that are known already; the end of it, if it is left out. */
    from: z.int().min(0).optional(),
    /** How much of it at most. */
    bytes: z.int().min(1).max(PIECE_BYTES).default(PIECE_BYTES),
  }),
  output: LOG_ANSWER,
  run: async (asked, { among, reader, stateDirectory }): Promise<LogAnswer> => {
    await mustExist(reader, asked.identity);
    const own = await outputIn(stateDirectory, asked);
    // Of one period it lies in one place; which run is the newest all nodes have to say.
    if (among === null || (own.file !== null && asked.periodAt !== undefined)) return own;
    const all = [own, ...(await among.outputs(asked))];
    return all.reduce((newest, one) => ((one.file ?? "") > (newest.file ?? "") ? one : newest));
  },
});

/** What lies on this machine. */
export async function outputIn(stateDirectory: string, asked: OutputAsked): Promise<LogAnswer> {
  const { identity: of, periodAt, from, bytes } = asked;
  const directory = outputDirectoryOf(join(stateDirectory, OUTPUT), of);
  const file = await newestOf(directory, periodAt === undefined ? "" : prefixOf(periodAt));
  if (file === null) return { file, text: "", from: 0, next: 0, size: 0 };
  return { file, ...(await pieceOf(join(directory, file), from, bytes)) };
}

function prefixOf(periodAt: number): string {
  return `${formatInstant(periodAt).replaceAll(":", "")}.`;
}

/** Names sort in the order of the runs. */
async function newestOf(directory: string, prefix: string): Promise<string | null> {
  const names = await readdir(directory).catch(orNone);
  const logs = names.filter((name) => name.endsWith(".log") && name.startsWith(prefix));
  return logs.sort().at(-1) ?? null;
}

function orNone(error: NodeJS.ErrnoException): string[] {
  if (error.code === "ENOENT") return [];
  throw error;
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
