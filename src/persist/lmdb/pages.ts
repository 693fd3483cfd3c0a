/**
 * Reads a data file as bytes, without mapping it, and checks what LMDB itself believes unseen: page headers, the bounds
 * of nodes, the order of keys against the branches above them, the counts, the lists of free pages, and which of the two
 * snapshots is the last one. A damaged header kills the process that maps the file, a damaged branch hides documents
 * that exist, and a damaged snapshot number brings back the state before the last commit: each could run a period twice.
 *
 * It knows data version 2 on 64-bit little-endian machines, which is what the pinned binding writes. Anything else is
 * left to the walk in the child. What lies inside values is covered by their checksums, which are looked at on request.
 */

import * as fs from "node:fs";
import * as os from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { messageOf } from "../../core/base/errors/message.js";
import { err, ok, type Result } from "../../core/base/result.js";
import {
  branchChild,
  HEADER_BYTES,
  META_COUNT,
  type Meta,
  NO_PAGE,
  NODE,
  NODE_HEADER_BYTES,
  PAGE,
  readMeta,
  readTree,
  readU64,
  TREE_BYTES,
  TREE_FLAGS,
  type Tree,
} from "./page-format.js";

const KNOWN_ARCHITECTURES = ["x64", "arm64", "ppc64", "riscv64", "loong64"];
const MAX_DEPTH = 32;
/** Pages between two breaths of the event loop: a millisecond or two. */
const PAGES_PER_TURN = 128;

class Damage extends Error {}

/** Whether a value is the one that was written under its key, as far as it says so itself: for databases by their names. */
type ValueTests = Readonly<Record<string, (key: Buffer, value: Buffer) => boolean>>;

/** The databases there may be, as they are called in the data file, and the flags that they must have. */
interface DatabaseKinds {
  readonly names: readonly string[];
  readonly flags: number;
  /** null: nothing is asked of values. */
  readonly tests: ValueTests | null;
}

interface PageOptions {
  /** Those of the databases. */
  readonly flags?: number;
  /** Asked of the values of these. */
  readonly tests?: ValueTests;
}

interface PagesFound {
  /** Whether every value that was asked of has passed. False as well where nobody could ask. */
  readonly areIntact: boolean;
}

function claim(holds: boolean, what: () => string): asserts holds {
  if (!holds) throw new Damage(what());
}

/** Keys of a subtree: `low <= key < high`. null: no bound. */
interface Bounds {
  readonly low: Buffer | null;
  readonly high: Buffer | null;
}

const UNBOUND: Bounds = { low: null, high: null };

interface Found {
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
}

/** One tree on the way through it. */
interface Walk {
  readonly name: string;
  readonly tree: Tree;
  readonly found: Found;
  readonly compare: (left: Buffer, right: Buffer) => number;
}

function compareBytes(left: Buffer, right: Buffer): number {
  return left.compare(right);
}

/** The list of free pages is keyed by the numbers of commits. */
function compareNumbers(left: Buffer, right: Buffer): number {
  claim(left.length === FREE_KEY_BYTES && right.length === FREE_KEY_BYTES, () => "a list of free pages has no number");
  return readU64(left, 0) - readU64(right, 0);
}

const FREE_PAGES = "free pages";
const DATABASES = "databases";
const FREE_KEY_BYTES = 8;
/** What the bytes of `#seen` say. */
const IN_USE = 1;
const FREE = 2;

class PageCheck {
  readonly #descriptor: number;
  readonly #meta: Meta;
  readonly #pageCount: number;
  readonly #databases: DatabaseKinds;
  readonly #seen: Uint8Array;
  readonly #buffers: Buffer[] = [];
  readonly #named: { readonly name: string; readonly tree: Tree }[] = [];
  readonly #free: Buffer[] = [];
  #sinceBreath = 0;
  #areIntact = true;

  constructor(descriptor: number, fileBytes: number, meta: Meta, databases: DatabaseKinds) {
    this.#descriptor = descriptor;
    this.#databases = databases;
    this.#meta = meta;
    // The last page may be in use only as far as the file reaches.
    this.#pageCount = Math.min(meta.lastPage + 1, Math.floor(fileBytes / meta.pageSize));
    this.#seen = new Uint8Array(this.#pageCount);
  }

  async run(): Promise<PagesFound> {
    await nextTurn();
    await this.#tree(FREE_PAGES, this.#meta.free, TREE_FLAGS.free, compareNumbers);
    await this.#tree(DATABASES, this.#meta.main, TREE_FLAGS.main, compareBytes);
    for (const { name, tree } of this.#named.splice(0)) {
      claim(this.#databases.names.includes(name), () => `there is no database ${JSON.stringify(name)}`);
      await this.#tree(name, tree, this.#databases.flags, compareBytes);
    }
    for (const list of this.#free) this.#freeList(list);
    return { areIntact: this.#databases.tests !== null && this.#areIntact };
  }

  async #tree(name: string, tree: Tree, flags: number, compare: Walk["compare"]): Promise<void> {
    claim(tree.flags === flags, () => `${name} has flags ${tree.flags}`);
    const found: Found = { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0 };
    const walk: Walk = { name, tree, found, compare };
    if (tree.root !== NO_PAGE) await this.#subtree(walk, tree.root, 1, UNBOUND);
    for (const count of ["branchPages", "leafPages", "overflowPages", "entries"] as const) {
      claim(found[count] === tree[count], () => `${name} claims ${tree[count]} ${count} and has ${found[count]}`);
    }
  }

  async #subtree(walk: Walk, at: number, depth: number, bounds: Bounds): Promise<void> {
    const { name, tree } = walk;
    const where = `${name}, page ${at}`;
    claim(depth <= Math.min(tree.depth, MAX_DEPTH), () => `${name} is deeper than it claims`);
    const page = this.#page(at, depth, where);
    const isLeaf = depth === tree.depth;
    const flags = page.readUInt16LE(PAGE.flags);
    claim(flags === (isLeaf ? PAGE.isLeaf : PAGE.isBranch), () => `${where} has flags ${flags}`);
    const nodes = this.#nodes(page, where);
    checkOrder(walk, page, nodes, isLeaf, bounds);
    await this.#breathe();
    if (isLeaf) this.#leaf(name, page, nodes, walk.found);
    else await this.#branch(walk, page, nodes, depth, bounds);
  }

  async #branch(walk: Walk, page: Buffer, nodes: readonly number[], depth: number, bounds: Bounds): Promise<void> {
    walk.found.branchPages += 1;
    claim(nodes.length >= 2, () => `${walk.name} has a branch with ${nodes.length} children`);
    for (const [index, node] of nodes.entries()) {
      const next = nodes[index + 1];
      const low = index === 0 ? bounds.low : keyOf(page, node);
      const high = next === undefined ? bounds.high : keyOf(page, next);
      await this.#subtree(walk, branchChild(page, node), depth + 1, { low, high });
    }
  }

  #leaf(name: string, page: Buffer, nodes: readonly number[], found: Found): void {
    found.leafPages += 1;
    found.entries += nodes.length;
    for (const node of nodes) this.#leafNode(name, page, node, found);
  }

  #leafNode(name: string, page: Buffer, node: number, found: Found): void {
    const flags = page.readUInt16LE(node + NODE.flags);
    const data = node + NODE_HEADER_BYTES + page.readUInt16LE(node + NODE.keyBytes);
    const bytes = page.readUInt32LE(node);
    if (flags === NODE.isBig) {
      const value = this.#overflow(name, readU64(page, data), readU64(page, data + NODE.bigPages), bytes, found);
      if (name === FREE_PAGES) this.#free.push(value);
      else this.#test(name, page, node, value);
    } else if (flags === NODE.isTree && name === DATABASES) {
      claim(bytes === TREE_BYTES, () => `${name} has a record of ${bytes} bytes`);
      this.#named.push({ name: keyOf(page, node).toString("latin1"), tree: readTree(page, data) });
    } else {
      claim(flags === 0, () => `${name} has a node with flags ${flags}`);
      const value = page.subarray(data, data + bytes);
      if (name === FREE_PAGES) this.#free.push(Buffer.from(value));
      else this.#test(name, page, node, value);
    }
  }

  /** What was found once is enough. */
  #test(name: string, page: Buffer, node: number, value: Buffer): void {
    const isIntact = this.#databases.tests?.[name];
    if (isIntact !== undefined && this.#areIntact) this.#areIntact = isIntact(keyOf(page, node), value);
  }

  /** A value on pages of its own; a shorter value may have been written to the pages of a longer one. */
  #overflow(name: string, at: number, count: number, bytes: number, found: Found): Buffer {
    const first = this.#page(at, 0, `${name}, overflow page ${at}`);
    const isRight = first.readUInt16LE(PAGE.flags) === PAGE.isOverflow && first.readUInt32LE(PAGE.pages) === count;
    claim(isRight, () => `${name}, page ${at} is no value of ${count} pages`);
    claim(HEADER_BYTES + bytes <= count * this.#meta.pageSize, () => `${name}, page ${at} is too short`);
    for (let page = at + 1; page < at + count; page += 1) this.#use(page, `${name}, overflow page ${page}`);
    found.overflowPages += count;
    if (name !== FREE_PAGES && this.#databases.tests?.[name] === undefined) return first;
    const value = Buffer.alloc(bytes);
    fs.readSync(this.#descriptor, value, 0, bytes, at * this.#meta.pageSize + HEADER_BYTES);
    return value;
  }

  #use(at: number, where: string): void {
    claim(at >= META_COUNT && at < this.#pageCount, () => `${where} lies outside the file`);
    claim(this.#seen[at] === 0, () => `${where} is used twice`);
    this.#seen[at] = IN_USE;
  }

  #page(at: number, depth: number, where: string): Buffer {
    this.#use(at, where);
    const buffer = this.#buffers[depth] ?? Buffer.alloc(this.#meta.pageSize);
    this.#buffers[depth] = buffer;
    const read = fs.readSync(this.#descriptor, buffer, 0, buffer.length, at * buffer.length);
    claim(read === buffer.length, () => `${where} cannot be read`);
    claim(readU64(buffer, PAGE.number) === at, () => `${where} is another page`);
    claim(readU64(buffer, PAGE.txn) <= this.#meta.txn, () => `${where} is newer than the last commit`);
    return buffer;
  }

  /** Offsets of the nodes, each of which lies within the page. */
  #nodes(page: Buffer, where: string): number[] {
    const lower = page.readUInt16LE(PAGE.lower);
    const upper = page.readUInt16LE(PAGE.upper);
    const room = page.length - HEADER_BYTES;
    claim(lower % 2 === 0 && lower > 0 && lower <= upper && upper <= room, () => `${where} has broken bounds`);
    const nodes: number[] = [];
    for (let slot = HEADER_BYTES; slot < HEADER_BYTES + lower; slot += 2) {
      const offset = page.readUInt16LE(slot);
      claim(offset >= upper && offset + NODE_HEADER_BYTES <= room, () => `${where} has a node outside`);
      nodes.push(offset + HEADER_BYTES);
    }
    for (const node of nodes) this.#nodeFits(page, node, where);
    return nodes;
  }

  #nodeFits(page: Buffer, node: number, where: string): void {
    const isLeaf = page.readUInt16LE(PAGE.flags) === PAGE.isLeaf;
    const isBig = page.readUInt16LE(node + NODE.flags) === NODE.isBig;
    const data = isBig ? NODE.bigBytes : page.readUInt32LE(node);
    const bytes = NODE_HEADER_BYTES + page.readUInt16LE(node + NODE.keyBytes) + (isLeaf ? data : 0);
    claim(node + bytes <= page.length, () => `${where} has a node that leaves the page`);
  }

  /** `[length, entries…]`: a page, or minus a count and the first page of a run, or 0 for nothing. */
  #freeList(list: Buffer): void {
    const length = readU64(list, 0);
    claim((length + 1) * 8 <= list.length, () => "a list of free pages is longer than its record");
    let run = 1;
    for (let index = 1; index <= length; index += 1) {
      const entry = Number(list.readBigInt64LE(index * 8));
      if (entry < 0) run = -entry;
      if (entry <= 0) continue;
      for (let page = entry; page < entry + run; page += 1) this.#markFree(page);
      run = 1;
    }
  }

  #markFree(page: number): void {
    claim(page >= META_COUNT && page <= this.#meta.lastPage, () => `free page ${page} does not exist`);
    claim(this.#seen[page] !== IN_USE, () => `page ${page} is free and in use`);
    claim(this.#seen[page] !== FREE, () => `page ${page} is free twice`);
    if (page < this.#pageCount) this.#seen[page] = FREE;
  }

  async #breathe(): Promise<void> {
    this.#sinceBreath += 1;
    if (this.#sinceBreath < PAGES_PER_TURN) return;
    this.#sinceBreath = 0;
    await nextTurn();
  }
}

/** The first key of a branch is never looked at, so it may be anything. */
function checkOrder(walk: Walk, page: Buffer, nodes: readonly number[], isLeaf: boolean, { low, high }: Bounds): void {
  let previous = low;
  for (const [index, node] of nodes.entries()) {
    if (!isLeaf && index === 0) continue;
    const key = keyOf(page, node);
    const isFirst = index === 0 || (!isLeaf && index === 1);
    const distance = previous === null ? 1 : walk.compare(key, previous);
    claim(isFirst ? distance >= 0 : distance > 0, () => `${walk.name} is out of order`);
    claim(high === null || walk.compare(key, high) < 0, () => `${walk.name} has keys on the wrong page`);
    previous = key;
  }
}

function keyOf(page: Buffer, node: number): Buffer {
  const start = node + NODE_HEADER_BYTES;
  return page.subarray(start, start + page.readUInt16LE(node + NODE.keyBytes));
}

function rootTxn(descriptor: number, meta: Meta): number {
  if (meta.main.root === NO_PAGE) return 0;
  const header = Buffer.alloc(HEADER_BYTES);
  fs.readSync(descriptor, header, 0, header.length, meta.main.root * meta.pageSize);
  return readU64(header, PAGE.txn);
}

/** Commit n writes snapshot n % 2, so the two are neighbours, and neither has a root from after its own commit. */
function lastSnapshot(descriptor: number, metas: readonly [Meta, Meta]): Meta {
  const [even, odd] = metas;
  const isFresh = even.txn === 0 && odd.txn <= 1;
  const isPaired = even.txn % 2 === 0 && (odd.txn % 2 === 1 || odd.txn === 0) && Math.abs(even.txn - odd.txn) <= 1;
  claim(isFresh || isPaired, () => `snapshots ${even.txn} and ${odd.txn} do not follow each other`);
  claim(even.pageSize === odd.pageSize, () => "the snapshots disagree about the size of a page");
  for (const meta of metas) {
    claim(rootTxn(descriptor, meta) <= meta.txn, () => `snapshot ${meta.txn} is really a newer one`);
  }
  return even.txn > odd.txn ? even : odd;
}

/** Nothing could be asked. */
const UNKNOWN: PagesFound = { areIntact: false };

async function checkFile(descriptor: number, databases: DatabaseKinds): Promise<PagesFound> {
  const { size } = fs.fstatSync(descriptor);
  const first = readMeta(descriptor, 0, size);
  claim(first !== null, () => "the file does not begin like a store");
  if (!first.isKnownVersion) return UNKNOWN;
  const second = readMeta(descriptor, first.pageSize, size);
  claim(second?.isKnownVersion === true, () => "the second snapshot is no snapshot");
  return new PageCheck(descriptor, size, lastSnapshot(descriptor, [first, second]), databases).run();
}

/** Whether the system failed to read: that says nothing about what is in the file. */
function isSystemError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

/**
 * Nobody may write meanwhile: the caller holds the lock. The error says what is damaged; throws when the file cannot be
 * read at all.
 */
export async function checkPages(
  file: string,
  names: readonly string[],
  { flags = TREE_FLAGS.database, tests }: PageOptions = {},
): Promise<Result<PagesFound, string>> {
  if (os.endianness() !== "LE" || !KNOWN_ARCHITECTURES.includes(process.arch)) return ok(UNKNOWN);
  const descriptor = fs.openSync(file, fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW);
  try {
    return ok(await checkFile(descriptor, { names, flags, tests: tests ?? null }));
  } catch (error) {
    // Whatever else was thrown while following damaged numbers is damage too.
    if (isSystemError(error)) throw error;
    return err(messageOf(error));
  } finally {
    fs.closeSync(descriptor);
  }
}
