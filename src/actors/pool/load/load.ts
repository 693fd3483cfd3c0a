/**
 * Reads a configuration of any size: pieces of its files become canonical definitions, in threads where that pays, and
 * are brought together in their order. The same jobs, settings and findings as the loader that holds everything as
 * objects.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { CalendarFiles } from "../../../core/config/calendar/definition.js";
import { configFormatOf } from "../../../core/config/readers.js";
import { readCalendarFiles } from "../../../persist/calendar-files.js";
import {
  type ConfigFile,
  ConfigFiles,
  type ConfigFinding,
  type ConfigSource,
  type OpenedConfig,
} from "../../../persist/config-files.js";
import { Lanes } from "../lanes.js";
import { orHere } from "../or-here.js";
import type { Planning } from "../plan-all.js";
import type { ConfigManifestFile, LoadedConfiguration, LoadOptions } from "../types.js";
import { linePieces, readWhole } from "./line-pieces.js";
import { Fingerprint, isUnchanged, readerOf } from "./manifest.js";
import { Merge } from "./merge.js";
import { type Piece, type PieceForm, type PieceTask, readPiece, textOf } from "./piece.js";

/** A byte of YAML takes so many times as long as one of the line formats. */
const YAML_WEIGHT = 16;
/** Pieces on this thread: a few milliseconds each. */
const INLINE_PIECE_BYTES = 64 * 1024;
/** On top of what any batch may take. */
const MS_PER_BYTE = 0.005;
const NEVER = new AbortController().signal;

export async function loadDefinitions(
  sources: readonly ConfigSource[],
  options: LoadOptions,
  planning: Planning,
): Promise<LoadedConfiguration> {
  const { known = null, check = null, signal = NEVER } = options;
  const size = await sizeOf(sources);
  signal.throwIfAborted();
  const progress = new Progress(size.bytes, options);
  if (known !== null && known.reader === readerOf(sources)) {
    const findings: ConfigFinding[] = [];
    const files = new ConfigFiles(check, (finding) => void findings.push(finding));
    if ((await isUnchanged(known, sources, files, (bytes) => progress.add(bytes))) && findings.length === 0) {
      return { definitions: null, manifest: known, files: files.names, settings: known.settings };
    }
    progress.restart();
  }
  const isPooled = planning.threads !== null && size.weight > planning.limits.inlineFileBytes;
  return new Loading(sources, options, planning, isPooled, progress).run();
}

class Progress {
  readonly #onProgress: LoadOptions["onProgress"];
  readonly #signal: AbortSignal;
  readonly #totalBytes: number;
  #doneBytes = 0;

  constructor(totalBytes: number, { onProgress, signal = NEVER }: LoadOptions) {
    this.#totalBytes = totalBytes;
    this.#onProgress = onProgress;
    this.#signal = signal;
  }

  /** Files may have grown since they were counted. */
  add(bytes: number): void {
    this.#signal.throwIfAborted();
    this.#doneBytes += bytes;
    const totalBytes = Math.max(this.#totalBytes, this.#doneBytes);
    this.#onProgress?.({ doneBytes: this.#doneBytes, totalBytes });
  }

  restart(): void {
    this.#doneBytes = 0;
  }
}

/** What takes its turn: a piece with what it was made of, or a file that cannot be read. */
type Made = { readonly piece: Piece; readonly task: PieceTask } | { readonly refused: ConfigFinding };

class Loading {
  readonly #sources: readonly ConfigSource[];
  readonly #options: LoadOptions;
  readonly #planning: Planning;
  readonly #isPooled: boolean;
  readonly #progress: Progress;
  readonly #merge = new Merge();
  readonly #fingerprints: ConfigManifestFile[] = [];
  readonly #lanes: Lanes<Made>;

  constructor(
    sources: readonly ConfigSource[],
    options: LoadOptions,
    planning: Planning,
    isPooled: boolean,
    progress: Progress,
  ) {
    this.#sources = sources;
    this.#options = options;
    this.#planning = planning;
    this.#isPooled = isPooled;
    this.#progress = progress;
    this.#lanes = new Lanes(isPooled ? planning.width : 1, (made) => this.#take(made));
  }

  async run(): Promise<LoadedConfiguration> {
    const files = new ConfigFiles(this.#options.check ?? null, (refused) => this.#lanes.note({ refused }));
    try {
      for (const source of this.#sources) await files.visit(source, (file, opened) => this.#read(file, opened, files));
    } finally {
      await this.#lanes.end();
    }
    const definitions = this.#merge.result(files.names);
    const { settings, size: jobs } = definitions;
    const isKept = this.#merge.isSound && !this.#merge.hasCrontabs;
    const manifest = { reader: readerOf(this.#sources), files: this.#fingerprints, settings, jobs };
    return { definitions, manifest: isKept ? manifest : null, files: files.names, settings };
  }

  async #read(file: ConfigFile, { handle }: OpenedConfig, files: ConfigFiles): Promise<void> {
    const { name, format, crontab } = file;
    const fingerprint = new Fingerprint();
    const seen = (bytes: Uint8Array): void => fingerprint.add(bytes);
    const calendars: ConfigManifestFile[] = [];
    if (format === "kron" || format === "jsonl") {
      const { pieceBytes: wantedBytes } = this.#planning.limits;
      const pieceBytes = this.#isPooled ? wantedBytes : Math.min(INLINE_PIECE_BYTES, wantedBytes);
      let isFirst = true;
      for await (const bytes of linePieces(handle, pieceBytes, seen)) {
        await this.#put({ file: name, form: { kind: format, isFirst }, bytes });
        isFirst = false;
      }
    } else {
      const bytes = await readWhole(handle, seen);
      const form: PieceForm =
        crontab === undefined
          ? { kind: "yaml", calendarFiles: await this.#readCalendars(file, bytes, files, calendars) }
          : { kind: "crontab", rules: crontab };
      await this.#put({ file: name, form, bytes });
    }
    this.#fingerprints.push(fingerprint.of(name), ...calendars);
  }

  /** Their fingerprints follow that of the file that names them. */
  #readCalendars(
    file: ConfigFile,
    bytes: Uint8Array,
    files: ConfigFiles,
    fingerprints: ConfigManifestFile[],
  ): Promise<CalendarFiles> {
    return readCalendarFiles(file, textOf(bytes), files, (calendar, { name }, content) => {
      const fingerprint = new Fingerprint();
      fingerprint.add(content);
      fingerprints.push({ ...fingerprint.of(name), calendar });
    });
  }

  #put(task: PieceTask): Promise<void> {
    return this.#lanes.put(async () => ({ piece: await this.#make(task), task }));
  }

  async #make(task: PieceTask): Promise<Piece> {
    const { signal = NEVER } = this.#options;
    const { threads, limits } = this.#planning;
    const here = (): Piece => readPiece(task, () => signal.throwIfAborted());
    if (this.#isPooled && threads !== null) {
      const timeoutMs = limits.batchTimeoutMs + task.bytes.length * MS_PER_BYTE;
      return orHere(threads.run("readPiece", task, { signal, timeoutMs }), here);
    }
    await nextTurn();
    return here();
  }

  #take(made: Made): void {
    if ("refused" in made) {
      this.#merge.refuse(made.refused);
      return;
    }
    this.#merge.take(made.piece, made.task);
    this.#progress.add(made.task.bytes.length);
  }
}

interface Size {
  readonly bytes: number;
  /** As bytes of the line formats. */
  readonly weight: number;
}

/** A first look, for the progress and for whether threads pay; what cannot be looked at is refused when it is read. */
async function sizeOf(sources: readonly ConfigSource[]): Promise<Size> {
  let [bytes, weight] = [0, 0];
  for (const { path } of sources) {
    for (const file of await filesAt(path)) {
      bytes += file.size;
      weight += file.size * (configFormatOf(file.path) === "yaml" ? YAML_WEIGHT : 1);
    }
  }
  return { bytes, weight };
}

async function filesAt(path: string): Promise<{ readonly path: string; readonly size: number }[]> {
  try {
    const stats = await stat(path);
    if (!stats.isDirectory()) return [{ path, size: stats.size }];
    const names = (await readdir(path)).filter((name) => !name.startsWith(".") && configFormatOf(name) !== null);
    const found = names.map(async (name) => {
      const { size } = await stat(join(path, name));
      return { path: name, size };
    });
    return await Promise.all(found);
  } catch {
    return [];
  }
}
