/** Bounds of the API: of what a client may send, and of what it may leave open. */
export const API_LIMITS = {
  headerBytes: 8 * 1024,
  headers: 64,
  headersMs: 5_000,
  requestMs: 15_000,
  idleMs: 5_000,
  /** How often connections are looked at for the three above. */
  checkedEveryMs: 1_000,
  connections: 256,
  requestsPerConnection: 10_000,
  /** Less than the headers, of which it is the first: what is too long is told as such. */
  urlChars: 6 * 1024,
  bodyBytes: 1024 * 1024,
  /** Of bodies that are being sent, before they are whole. */
  bodiesBytes: { ofHolder: 4 * 1024 * 1024, ofAll: 32 * 1024 * 1024 },
  /** So much of a body costs its key as much as a request: reading it takes as long. */
  bodyBytesPerRequest: 64 * 1024,
  /** Of lists and objects in each other. */
  bodyDepth: 32,
  /** Of lists and objects, together. */
  bodyElements: 100_000,
  /** Rows of a page. */
  pageRows: 200,
  usualPageRows: 50,
  cursorChars: 5 * 1024 + 512,
  /** Wrong keys that an address may show a minute, and at once. */
  wrongKeys: { perSecond: 10 / 60, burst: 20 },
  /** Wrong logins on the page that an address may try a minute, and at once. */
  wrongLogins: { perSecond: 5 / 60, burst: 5 },
  /** Of a key or a code that is to open the page, and of the body that has it. */
  credentialChars: 256,
  credentialBytes: 1024,
  /** Requests of a key that has no rate of its own. */
  rate: { perSecond: 50, burst: 100 },
  /** Keys and addresses whose rate is remembered. */
  remembered: 10_000,
  idempotencyKeyChars: 255,
  idempotencyMs: 24 * 3_600_000,
  /** Of an answer that is kept for somebody who asks again. */
  keptAnswerChars: 64 * 1024,
  /** What is kept for one owner within that time: so many requests, and so much of their answers. */
  keptRequests: 250_000,
  keptChars: 64 * 1024 * 1024,
  sweptEveryMs: 60_000,
  sweptAtOnce: 500,
  /** What is under way may take so long to end when the door closes. */
  closeMs: 5_000,
} as const;
