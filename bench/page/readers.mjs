/** What the pages ask for, asked for by nobody who draws it: what looking on costs the daemon, and not the machine. */
const NOW_EVERY_MS = 2_000;

export class Readers {
  #controller = new AbortController();
  #timer;
  /** Bytes that came. */
  bytes = 0;

  constructor(origin, key) {
    const headers = { Authorization: `Bearer ${key}` };
    const follow = (path) => this.#read(`${origin}${path}`, headers);
    follow("/web/feed");
    follow("/web/feed");
    follow("/api/v1/inspect?definitions=once&resting=200");
    this.#timer = setInterval(() => this.#read(`${origin}/api/v1/now`, headers), NOW_EVERY_MS);
  }

  async #read(url, headers) {
    const { signal } = this.#controller;
    try {
      const answer = await fetch(url, { headers, signal });
      if (!answer.ok) throw new Error(`bench: ${url}: ${answer.status}`);
      for await (const piece of answer.body) this.bytes += piece.length;
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  }

  close() {
    clearInterval(this.#timer);
    this.#controller.abort();
  }
}
