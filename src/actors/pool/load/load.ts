/**
 * Reads a configuration of any size for a daemon: its jobs become canonical texts outside the heap, in threads where that
 * pays. Files that are known to be unchanged are not read as configuration at all.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { configFormatOf } from "../../../core/config/formats.js";
import { ConfigFiles, type ConfigFinding, type ConfigSource } from "../../../persist/config-files.js";
import { orHere } from "../or-here.js";
import type { Planning } from "../plan-all.js";
import type { LoadedConfiguration, LoadOptions } from "../types.js";
import { INLINE_PIECE_BYTES } from "./configuration.js";
import { DefinitionSet } from "./definition-set.js";
import type { JobColumns } from "./job-columns.js";
import { loadFiles, type PieceReader } from "./loading.js";
import { isUnchanged, readerOf } from "./manifest.js";
import { packed, readPiece } from "./piece.js";

/** A byte of YAML takes so many times as long as one of the line formats. */
const YAML_WEIGHT = 16;
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
      return {
        definitions: null,
        manifest: known,
        files: files.names,
        settings: known.settings,
        findings,
        crontabs: [],
      };
    }
    progress.restart();
  }
  const reader = pieceReader(size.weight > planning.limits.inlineFileBytes, signal, planning);
  const definitions = new DefinitionSet();
  const onBytes = (bytes: number): void => progress.add(bytes);
  const { fingerprints, ...reading } = await loadFiles(sources, { reader, keeper: definitions, check, onBytes });
  const { settings, findings, crontabs } = reading;
  const isKept = findings.length === 0 && crontabs.length === 0;
  const manifest = { reader: readerOf(sources), files: fingerprints, settings, jobs: definitions.size };
  return { ...reading, definitions, manifest: isKept ? manifest : null };
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

function pieceReader(isPooled: boolean, signal: AbortSignal, planning: Planning): PieceReader<JobColumns> {
  const { threads, limits, width } = planning;
  const tick = (): void => signal.throwIfAborted();
  if (!isPooled || threads === null) {
    const read: PieceReader<JobColumns>["read"] = async (task) => {
      await nextTurn();
      return packed(await readPiece(task, tick));
    };
    return { width: 1, pieceBytes: Math.min(INLINE_PIECE_BYTES, limits.pieceBytes), read };
  }
  return {
    width,
    pieceBytes: limits.pieceBytes,
    read(task) {
      const timeoutMs = limits.batchTimeoutMs + task.bytes.length * MS_PER_BYTE;
      return orHere(threads.run("readPiece", task, { signal, timeoutMs }), async () =>
        packed(await readPiece(task, tick)),
      );
    },
  };
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
