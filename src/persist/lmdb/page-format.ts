/** Where things lie in an LMDB data file (data version 2, 64 bit, little-endian), and nothing about what they mean. */
import * as fs from "node:fs";

export const META_COUNT = 2;
export const HEADER_BYTES = 24;
export const NODE_HEADER_BYTES = 8;
export const TREE_BYTES = 48;
/** Stands for "no page" where a page number is expected. */
export const NO_PAGE = -1;

export const PAGE = {
  number: 0,
  txn: 8,
  flags: 18,
  lower: 20,
  upper: 22,
  pages: 20,
  isBranch: 0x01,
  isLeaf: 0x02,
  isOverflow: 0x04,
  isMeta: 0x08,
} as const;

/**
 * Flags of trees as our options make them: the list of free pages has numbers as keys and also holds the flags of the
 * environment (one file, no directory); values of the databases of krond have a version in front, plain ones have none.
 */
export const TREE_FLAGS = { free: 0x4008, main: 0, database: 0x100, plain: 0 } as const;

/** Offsets within a node; its first four bytes are the size of its data. */
export const NODE = { flags: 4, keyBytes: 6, isBig: 0x01, isTree: 0x02, bigBytes: 24, bigPages: 16 } as const;

const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const META = { magic: 24, version: 28, free: 48, main: 96, lastPage: 144, txn: 152, bytes: 160 } as const;
const TREE = { pad: 0, flags: 4, depth: 6, branchPages: 8, leafPages: 16, overflowPages: 24, entries: 32, root: 40 };

const UINT32 = 2 ** 32;
const ALL_ONES = 2 ** 32 - 1;

/** Numbers above 2^53 are damage, and come out as numbers that fit nowhere. */
export function readU64(buffer: Buffer, offset: number): number {
  const high = buffer.readUInt32LE(offset + 4);
  const low = buffer.readUInt32LE(offset);
  return high === ALL_ONES && low === ALL_ONES ? NO_PAGE : high * UINT32 + low;
}

export interface Tree {
  readonly flags: number;
  readonly depth: number;
  readonly branchPages: number;
  readonly leafPages: number;
  readonly overflowPages: number;
  readonly entries: number;
  readonly root: number;
}

export function readTree(buffer: Buffer, offset: number): Tree {
  return {
    flags: buffer.readUInt16LE(offset + TREE.flags),
    depth: buffer.readUInt16LE(offset + TREE.depth),
    branchPages: readU64(buffer, offset + TREE.branchPages),
    leafPages: readU64(buffer, offset + TREE.leafPages),
    overflowPages: readU64(buffer, offset + TREE.overflowPages),
    entries: readU64(buffer, offset + TREE.entries),
    root: readU64(buffer, offset + TREE.root),
  };
}

/** The start of a snapshot. */
export interface Meta {
  readonly isKnownVersion: boolean;
  readonly pageSize: number;
  readonly free: Tree;
  readonly main: Tree;
  readonly lastPage: number;
  readonly txn: number;
}

const MIN_PAGE_SIZE = 512;
const MAX_PAGE_SIZE = 65_536;

function isPageSize(bytes: number): boolean {
  return bytes >= MIN_PAGE_SIZE && bytes <= MAX_PAGE_SIZE && Number.isInteger(Math.log2(bytes));
}

/** null when there is no snapshot at that place. */
export function readMeta(descriptor: number, offset: number, fileBytes: number): Meta | null {
  if (fileBytes < offset + META.bytes) return null;
  const buffer = Buffer.alloc(META.bytes);
  fs.readSync(descriptor, buffer, 0, buffer.length, offset);
  const pageSize = buffer.readUInt32LE(META.free + TREE.pad);
  const isMeta = buffer.readUInt16LE(PAGE.flags) === PAGE.isMeta && buffer.readUInt32LE(META.magic) === MAGIC;
  if (!isMeta || !isPageSize(pageSize)) return null;
  return {
    isKnownVersion: buffer.readUInt32LE(META.version) === DATA_VERSION,
    pageSize,
    free: readTree(buffer, META.free),
    main: readTree(buffer, META.main),
    lastPage: readU64(buffer, META.lastPage),
    txn: readU64(buffer, META.txn),
  };
}

/** The page that a node of a branch leads to. */
export function branchChild(page: Buffer, node: number): number {
  return page.readUInt32LE(node) + page.readUInt16LE(node + NODE.flags) * UINT32;
}
