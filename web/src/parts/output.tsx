/** What a run prints, while it prints. */
import { useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { get, Refusal } from "../data.js";
import type { LogAnswer } from "../shapes.js";
import { momentText } from "../time.js";

const LOOK_EVERY_MS = 1_000;
/** What is kept in the page; older lines are in the file. */
const MOST_CHARS = 400_000;

interface Props {
  readonly identity: string;
  /** null: the newest run. */
  readonly periodId: string | null;
  readonly isRunning: boolean;
  readonly hasRun: boolean;
}

export function Output({ identity, periodId, isRunning, hasRun }: Props) {
  const text = useSignal("");
  const file = useSignal<string | null>(null);
  const refusal = useSignal<string | null>(null);
  const follows = useSignal(true);
  const box = useRef<HTMLPreElement>(null);
  const path = `/schedules/${encodeURIComponent(identity)}/log`;
  const period = periodId === null ? "" : `&periodAt=${encodeURIComponent(periodId)}`;
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let next: number | null = null;
    async function look(): Promise<void> {
      try {
        const from = next === null ? "" : `&from=${next}`;
        const piece = await get<LogAnswer>(`${path}?${`${period}${from}`.slice(1)}`);
        if (isOver) return;
        const isOther = piece.file !== file.value;
        if (isOther && next !== null) next = null;
        else {
          text.value = (next === null ? piece.text : text.value + piece.text).slice(-MOST_CHARS);
          next = piece.next;
        }
        file.value = piece.file;
        refusal.value = null;
        const hasMore = isOther || piece.next < piece.size;
        if (isRunning || hasMore) timer = setTimeout(() => void look(), hasMore ? 0 : LOOK_EVERY_MS);
      } catch (error) {
        if (!isOver) refusal.value = error instanceof Refusal ? error.message : "the output cannot be had now";
      }
    }
    void look();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [path, period, isRunning]);
  useEffect(() => {
    if (follows.value && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
  }, [text.value]);
  function download(): void {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([text.value], { type: "text/plain" }));
    link.download = file.value ?? "output.log";
    link.click();
    URL.revokeObjectURL(link.href);
  }
  return (
    <section>
      <h2>
        Output{" "}
        <span class="soft small">
          {file.value !== null && momentText(startOf(file.value))}
          {isRunning && " · live"}
        </span>
      </h2>
      <div class="bar">
        <button
          type="button"
          class="chip"
          aria-pressed={follows.value}
          onClick={() => {
            follows.value = !follows.value;
          }}
        >
          follow
        </button>
        <button type="button" disabled={text.value === ""} onClick={download}>
          Download
        </button>
      </div>
      <pre class="panel log" role="log" tabIndex={0} aria-label="Output" ref={box}>
        {refusal.value ??
          (file.value === null
            ? hasRun
              ? "Nothing is kept."
              : "It has not run yet."
            : shownText(text.value) || "Nothing was printed.")}
      </pre>
    </section>
  );
}

/** The period, as the name of the file has it: `2026-11-19T100000Z.…`. */
function startOf(file: string): string {
  return file.replace(/^(.{13})(\d\d)(\d\d(?:\.\d+)?)Z.*$/, "$1:$2:$3Z");
}

/** Controls become signs: nothing that a job prints changes what is shown around it. */
function shownText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what it is about
  const controls = /[\u0000-\u0008\u000b-\u001f]/g;
  return text
    .replaceAll("\r\n", "\n")
    .replace(controls, (sign) => String.fromCodePoint(0x2400 + sign.charCodeAt(0)))
    .replace(/[\u007f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "␡");
}
