/** Server-sent events by fetch: unlike EventSource it can say in a header who asks. It goes on where it was broken off. */

/** `chars`: as how much it came. */
export type Listeners = Readonly<Record<string, (data: unknown, chars: number) => void>>;

export interface Followed {
  readonly url: string;
  /** Who asks. */
  headers(): Readonly<Record<string, string>>;
  readonly listeners: Listeners;
  /** Whether what is told is what happens now. */
  onLive?(isLive: boolean): void;
  /** It is refused for good: nobody tries again. */
  onRefused?(status: number): void;
}

const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 15_000;
/** Of what is heard without a break. */
const SLICE_MS = 12;

class Refused extends Error {
  constructor(readonly status: number) {
    super(`refused: ${status}`);
  }
}

/** Gives what ends it. */
export function follow(followed: Followed): () => void {
  const stopped = new AbortController();
  void goOn(followed, stopped.signal);
  return () => stopped.abort();
}

async function goOn(followed: Followed, signal: AbortSignal): Promise<void> {
  const seen = { id: "" };
  let waitMs = FIRST_WAIT_MS;
  while (!signal.aborted) {
    try {
      await once(followed, signal, seen);
      waitMs = FIRST_WAIT_MS;
    } catch (error) {
      if (error instanceof Refused) {
        followed.onRefused?.(error.status);
        return;
      }
    }
    if (signal.aborted) return;
    followed.onLive?.(false);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    waitMs = Math.min(LONGEST_WAIT_MS, waitMs * 2);
  }
}

async function once(followed: Followed, signal: AbortSignal, seen: { id: string }): Promise<void> {
  const { url, listeners } = followed;
  const last: Record<string, string> = seen.id === "" ? {} : { "Last-Event-ID": seen.id };
  const headers = { Accept: "text/event-stream", ...followed.headers(), ...last };
  const answer = await fetch(url, { headers, signal });
  if (answer.status >= 400 && answer.status < 500 && answer.status !== 429) throw new Refused(answer.status);
  if (!answer.ok || answer.body === null) throw new Error(`${answer.status}`);
  followed.onLive?.(true);
  const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let restsAt = performance.now() + SLICE_MS;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      hear(fieldsOf(block), listeners, seen);
      if (performance.now() < restsAt) continue;
      // However much comes at once, the page is drawn and hears its keys meanwhile.
      await new Promise((resolve) => setTimeout(resolve));
      if (signal.aborted) return;
      restsAt = performance.now() + SLICE_MS;
    }
  }
}

/** The lines of one message, by their names. */
function fieldsOf(block: string): ReadonlyMap<string, string> {
  return new Map(
    block.split("\n").map((line) => {
      const at = line.indexOf(": ");
      return [line.slice(0, at), line.slice(at + 2)] as const;
    }),
  );
}

function hear(fields: ReadonlyMap<string, string>, listeners: Listeners, seen: { id: string }): void {
  seen.id = fields.get("id") ?? seen.id;
  const data = fields.get("data");
  if (data !== undefined) listeners[fields.get("event") ?? "message"]?.(JSON.parse(data), data.length);
}
