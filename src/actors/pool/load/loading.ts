/**
 * The way from files to jobs, settings and findings, which there is once: for a daemon with threads and for a command
 * without. Whoever loads says how pieces are read and what becomes of the jobs in them.
 */
import type { CalendarFiles } from "../../../core/config/calendar/definition.js";
import { readCalendarFiles } from "../../../persist/calendar-files.js";
import {
  type ConfigCheck,
  type ConfigFile,
  ConfigFiles,
  type ConfigFinding,
  type ConfigSource,
  type GivenText,
  type OpenedConfig,
} from "../../../persist/config-files.js";
import { Lanes } from "../lanes.js";
import type { ConfigManifestFile } from "../types.js";
import { linePieces, readWhole } from "./line-pieces.js";
import { Fingerprint } from "./manifest.js";
import { type JobKeeper, Merge, type Merged } from "./merge.js";
import { type Piece, type PieceForm, type PieceTask, textOf } from "./piece.js";

export interface PieceReader<Jobs> {
  /** Pieces that are under way at a time. */
  readonly width: number;
  /** Size of the pieces of a file with a job on each line. */
  readonly pieceBytes: number;
  read(task: PieceTask): Promise<Piece<Jobs>>;
}

interface Loader<Jobs> {
  readonly reader: PieceReader<Jobs>;
  readonly keeper: JobKeeper<Jobs>;
  readonly check: ConfigCheck | null;
  /** Told of each piece that was taken. */
  readonly onBytes?: (bytes: number) => void;
}

/** What files say beside their jobs. */
export interface FilesReading extends Merged {
  readonly files: readonly string[];
  /** Of each file and of those that it names. */
  readonly fingerprints: readonly ConfigManifestFile[];
}

/** Everything that is wrong with any of the files is a finding, in the order of the sources. */
export async function loadFiles<Jobs>(sources: readonly ConfigSource[], loader: Loader<Jobs>): Promise<FilesReading> {
  return new Loading(loader).run(sources);
}

/** What takes its turn: a piece with what it was made of, or a file that cannot be read. */
type Made<Jobs> = { readonly piece: Piece<Jobs>; readonly task: PieceTask } | { readonly refused: ConfigFinding };

class Loading<Jobs> {
  readonly #loader: Loader<Jobs>;
  readonly #merge: Merge<Jobs>;
  readonly #files: ConfigFiles;
  readonly #fingerprints: ConfigManifestFile[] = [];
  readonly #lanes: Lanes<Made<Jobs>>;

  constructor(loader: Loader<Jobs>) {
    this.#loader = loader;
    this.#merge = new Merge(loader.keeper);
    this.#lanes = new Lanes(loader.reader.width, (made) => this.#take(made));
    this.#files = new ConfigFiles(loader.check, (refused) => this.#lanes.note({ refused }));
  }

  async run(sources: readonly ConfigSource[]): Promise<FilesReading> {
    try {
      for (const source of sources) await this.#visit(source);
    } finally {
      await this.#lanes.end();
    }
    return { ...this.#merge.result(), files: this.#files.names, fingerprints: this.#fingerprints };
  }

  async #visit(source: ConfigSource): Promise<void> {
    const { given } = source;
    if (given === undefined) await this.#files.visit(source, (file, opened) => this.#read(file, opened));
    else await this.#readGiven({ ...source, format: given.format }, given);
  }

  async #readGiven(file: ConfigFile, { text, reading }: GivenText): Promise<void> {
    const bytes = new TextEncoder().encode(text);
    if (!this.#files.accepts(file, bytes.length)) return;
    const form = reading === undefined ? await this.#formOf(file, bytes, []) : ({ kind: "read", reading } as const);
    await this.#put({ file: file.name, form, bytes });
  }

  async #read(file: ConfigFile, { handle }: OpenedConfig): Promise<void> {
    const { name, format } = file;
    const fingerprint = new Fingerprint();
    const seen = (bytes: Uint8Array): void => fingerprint.add(bytes);
    const calendars: ConfigManifestFile[] = [];
    if (format === "kron" || format === "jsonl") {
      let isFirst = true;
      for await (const bytes of linePieces(handle, this.#loader.reader.pieceBytes, seen)) {
        await this.#put({ file: name, form: { kind: format, isFirst }, bytes });
        isFirst = false;
      }
    } else {
      const bytes = await readWhole(handle, seen);
      await this.#put({ file: name, form: await this.#formOf(file, bytes, calendars), bytes });
    }
    this.#fingerprints.push(fingerprint.of(name), ...calendars);
  }

  /** Of a whole file. */
  async #formOf(file: ConfigFile, bytes: Uint8Array, calendars: ConfigManifestFile[]): Promise<PieceForm> {
    const { crontab, format } = file;
    if (crontab !== undefined) return { kind: "crontab", rules: crontab };
    if (format === "kron" || format === "jsonl") return { kind: format, isFirst: true };
    return { kind: "yaml", calendarFiles: await this.#readCalendars(file, bytes, calendars) };
  }

  /** Their fingerprints follow that of the file that names them. */
  #readCalendars(file: ConfigFile, bytes: Uint8Array, fingerprints: ConfigManifestFile[]): Promise<CalendarFiles> {
    return readCalendarFiles(file, textOf(bytes), this.#files, (calendar, { name }, content) => {
      const fingerprint = new Fingerprint();
      fingerprint.add(content);
      fingerprints.push({ ...fingerprint.of(name), calendar });
    });
  }

  #put(task: PieceTask): Promise<void> {
    return this.#lanes.put(async () => ({ piece: await this.#loader.reader.read(task), task }));
  }

  #take(made: Made<Jobs>): void {
    if ("refused" in made) {
      this.#merge.refuse(made.refused);
      return;
    }
    this.#merge.take(made.piece, made.task);
    this.#loader.onBytes?.(made.task.bytes.length);
  }
}
