/**
 * A disk that forgets. Content is lost unless its file was synced, names are lost unless their directory was synced, and
 * power may go before or after every single operation. What survives beyond the synced is up to `keep`: a real system
 * may have written any of it.
 */
import * as path from "node:path";
import type { Disk, DiskFile } from "../../../src/persist/files/disk.js";

interface Content {
  current: string;
  synced: string;
}

interface Names {
  current: Map<string, Content>;
  synced: Map<string, Content>;
}

export type DiskFault = "crash-before" | "crash-after" | "EIO" | "ENOSPC";

export interface FaultAt {
  /** Operations are counted from 1. */
  readonly step: number;
  readonly fault: DiskFault;
}

/** Asked at a power cut for everything that was not synced: does it survive all the same? */
export type Keep = () => boolean;

export class PowerCut extends Error {}

class SystemFault extends Error {
  readonly code: string;
  constructor(code: string, operation: string) {
    super(`${code}: ${operation}`);
    this.code = code;
  }
}

export class SimulatedDisk implements Disk {
  readonly #directories = new Map<string, Names>();
  readonly operations: string[] = [];
  #fault: FaultAt | null = null;
  #isOff = false;

  plan(fault: FaultAt | null): void {
    this.#fault = fault;
    this.operations.length = 0;
  }

  /** The power comes back: synced content and names are there, the rest as `keep` says. */
  restart(keep: Keep): void {
    for (const names of this.#directories.values()) {
      const merged = new Map(names.synced);
      for (const [name, content] of names.current) if (keep()) merged.set(name, content);
      for (const name of names.synced.keys()) if (!names.current.has(name) && keep()) merged.delete(name);
      names.current = merged;
      names.synced = new Map(merged);
      for (const content of merged.values()) {
        if (!keep()) content.current = this.#partOf(content, keep);
        content.synced = content.current;
      }
    }
    this.#isOff = false;
    this.plan(null);
  }

  create(file: string): Promise<DiskFile> {
    return this.#step(`create ${path.basename(file)}`, () => {
      const names = this.#namesOf(file);
      if (names.current.has(path.basename(file))) throw new SystemFault("EEXIST", file);
      return this.#open(file);
    });
  }

  append(file: string): Promise<DiskFile> {
    return this.#step(`append ${path.basename(file)}`, () => this.#open(file));
  }

  async read(file: string): Promise<Buffer | null> {
    const content = this.#namesOf(file).current.get(path.basename(file));
    return content === undefined ? null : Buffer.from(content.current);
  }

  async list(directory: string): Promise<readonly string[]> {
    return [...this.#directory(directory).current.keys()];
  }

  async makeDirectory(directory: string): Promise<void> {
    this.#directory(directory);
  }

  rename(from: string, to: string): Promise<void> {
    return this.#step(`rename ${path.basename(to)}`, () => {
      const source = this.#namesOf(from);
      const content = source.current.get(path.basename(from));
      if (content === undefined) throw new SystemFault("ENOENT", from);
      source.current.delete(path.basename(from));
      this.#namesOf(to).current.set(path.basename(to), content);
    });
  }

  remove(file: string): Promise<void> {
    return this.#step(`remove ${path.basename(file)}`, () => {
      this.#namesOf(file).current.delete(path.basename(file));
    });
  }

  syncDirectory(directory: string): Promise<void> {
    return this.#step(`sync ${path.basename(directory)}/`, () => {
      const names = this.#directory(directory);
      names.synced = new Map(names.current);
    });
  }

  #open(file: string): DiskFile {
    const { current } = this.#namesOf(file);
    const content = current.get(path.basename(file)) ?? { current: "", synced: "" };
    current.set(path.basename(file), content);
    const name = path.basename(file);
    return {
      write: (text) => this.#write(name, content, text),
      truncate: (bytes) =>
        this.#step(`truncate ${name}`, () => {
          content.current = Buffer.from(content.current).subarray(0, bytes).toString();
        }),
      sync: () =>
        this.#step(`sync ${name}`, () => {
          content.synced = content.current;
        }),
      close: async () => undefined,
    };
  }

  /** A write that fails, or is cut off, may have written a part. */
  #write(name: string, content: Content, text: string): Promise<void> {
    const half = text.slice(0, Math.floor(text.length / 2));
    return this.#step(
      `write ${name}`,
      () => {
        content.current += text;
      },
      () => {
        content.current += half;
      },
    );
  }

  async #step<T>(operation: string, act: () => T, onFault: () => void = () => undefined): Promise<T> {
    await Promise.resolve();
    if (this.#isOff) throw new PowerCut(operation);
    this.operations.push(operation);
    const fault = this.#fault?.step === this.operations.length ? this.#fault.fault : null;
    if (fault === "crash-before") return this.#cut(operation, onFault);
    if (fault === "EIO" || fault === "ENOSPC") {
      onFault();
      throw new SystemFault(fault, operation);
    }
    const done = act();
    return fault === "crash-after" ? this.#cut(operation, () => undefined) : done;
  }

  #cut(operation: string, onFault: () => void): never {
    onFault();
    this.#isOff = true;
    throw new PowerCut(operation);
  }

  /** What was appended may be there in part; what was never synced may be empty. */
  #partOf(content: Content, keep: Keep): string {
    const tail = content.current.slice(content.synced.length);
    return content.synced + tail.slice(0, keep() ? Math.floor(tail.length / 2) : 0);
  }

  #namesOf(file: string): Names {
    return this.#directory(path.dirname(file));
  }

  #directory(directory: string): Names {
    const name = path.resolve(directory);
    const found = this.#directories.get(name);
    if (found !== undefined) return found;
    const created: Names = { current: new Map(), synced: new Map() };
    this.#directories.set(name, created);
    return created;
  }
}
