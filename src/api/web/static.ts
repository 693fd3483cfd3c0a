/** The page itself: few files, read once. They hold nothing of the daemon, so that whoever is to log in can have them. */
import * as fs from "node:fs";
import * as path from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { KronError } from "../../core/base/errors/kron-error.js";
import type { Sent } from "../http/answer.js";

/** Whose content decides their name. */
const HASHED = /^\/assets\//;
const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
};
const SHORTEST_PACKED_BYTES = 1_024;

/** Nothing but our own files, and no text becomes code: whatever a job calls itself or prints stays text. */
const CONTENT_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const PAGE_HEADERS = {
  "Content-Security-Policy": CONTENT_POLICY,
  "Cross-Origin-Opener-Policy": "same-origin",
  Vary: "Accept-Encoding",
} as const;

interface File {
  readonly plain: Buffer;
  readonly packed: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

const INDEX = "/index.html";

export class StaticFiles {
  readonly #files: ReadonlyMap<string, File>;

  /** Throws a KronError where the page was not built. */
  constructor() {
    const folder = path.dirname(fileURLToPath(import.meta.resolve("#web-page")));
    if (!fs.existsSync(folder)) {
      const hint = "a package has it; in a checkout 'npm run build' makes it";
      throw new KronError("socket-unavailable", `there is no page at ${folder}`, {
        component: "api",
        operation: "listen",
        hint,
      });
    }
    const names = fs.readdirSync(folder, { recursive: true, encoding: "utf8" });
    const files = names.filter((name) => path.extname(name) in TYPES);
    this.#files = new Map(files.map((name) => [`/${name.replaceAll(path.sep, "/")}`, readFile(folder, name)]));
  }

  /** Every address that names no file is a place within the page. null: a file that there is not. */
  answer(address: string, acceptEncoding: string): Sent | null {
    const isFile = HASHED.test(address) || path.posix.extname(address) in TYPES;
    const file = this.#files.get(isFile ? address : INDEX);
    if (file === undefined) return null;
    const isPacked = file.packed !== null && /\bgzip\b/.test(acceptEncoding);
    const headers = isPacked ? { ...file.headers, "Content-Encoding": "gzip" } : file.headers;
    return { status: 200, headers, body: (isPacked ? file.packed : null) ?? file.plain };
  }
}

function readFile(folder: string, name: string): File {
  const plain = fs.readFileSync(path.join(folder, name));
  const type = TYPES[path.extname(name)] ?? "";
  const isHashed = HASHED.test(`/${name.replaceAll(path.sep, "/")}`);
  const caching = isHashed ? "public, max-age=31536000, immutable" : "no-cache";
  return {
    plain,
    packed: plain.length < SHORTEST_PACKED_BYTES ? null : gzipSync(plain, { level: 9 }),
    headers: { ...PAGE_HEADERS, "Content-Type": type, "Cache-Control": caching },
  };
}
