/** What can be done to a job: confirmed in place, told in a word, and taken back where that can be. */
import { useSignal } from "@preact/signals";
import { send } from "../data.js";
import { mayOperate } from "../session.js";
import type { JobRow } from "../shapes.js";
import { nowMs, wireText } from "../time.js";
import { useOpening } from "./opening.js";
import { useShortcuts } from "./shortcuts.js";
import { takeFocus } from "./sure.js";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const LENGTHS = [
  ["an hour", HOUR_MS],
  ["six hours", 6 * HOUR_MS],
  ["a day", DAY_MS],
  ["a week", 7 * DAY_MS],
] as const;

type Open = "run" | "pause" | "cancel" | "hint";

interface Said {
  readonly text: string;
  readonly isRefusal: boolean;
  /** What takes it back. */
  readonly undo?: () => void;
}

interface Props {
  readonly job: JobRow;
  onDone(): void;
}

/** What keys open; `Enter` goes on from there. */
const OPENED_BY: Readonly<Record<string, Open>> = { r: "run", p: "pause", c: "cancel", h: "hint" };

export function Actions(props: Props) {
  return mayOperate() ? <Deeds {...props} /> : null;
}

function Deeds({ job, onDone }: Props) {
  // A list may have sent somebody here for that.
  const { open, show, shut, toggle, onKeyDown } = useOpening<Open>(location.hash === "#hint" ? "hint" : null);
  const said = useSignal<Said | null>(null);
  const path = `/schedules/${encodeURIComponent(job.identity)}`;

  async function act(text: string, ask: () => Promise<unknown>, undo?: () => void): Promise<void> {
    shut();
    try {
      await ask();
      said.value = { text, isRefusal: false, ...(undo === undefined ? {} : { undo }) };
    } catch (error) {
      said.value = { text: (error as Error).message, isRefusal: true };
    }
    onDone();
  }
  const resume = (): void => void act("Resumed.", () => send("POST", `${path}/resume`, {}));
  const isPaused = job.standing === "paused";
  const hasHints = job.hints.interval !== null || job.hints.oneshot !== null;
  const run = (): void => void act("Started.", () => send("POST", `${path}/run`, {}));
  const cancel = (): void => void act("Asked to end.", () => send("POST", `${path}/cancel`, {}));
  useShortcuts((key) => {
    // Whoever has clicked somewhere else is not in the question any more.
    if (key === "Escape") shut();
    const opened = OPENED_BY[key];
    if (opened === undefined) return false;
    if (opened === "pause" && isPaused) resume();
    else if (opened === "cancel" && job.active.length === 0) said.value = { text: "Nothing runs.", isRefusal: false };
    else show(opened);
    return true;
  });
  return (
    // The keys are those of what is in it.
    // biome-ignore lint/a11y/noStaticElementInteractions: the keys are those of what is in it
    <div class="actions" onKeyDown={onKeyDown}>
      <div class="bar">
        <button type="button" onClick={run}>
          Run now
        </button>
        {isPaused ? (
          <button type="button" onClick={resume}>
            Resume
          </button>
        ) : (
          <button type="button" aria-expanded={open.value === "pause"} onClick={toggle("pause")}>
            Pause…
          </button>
        )}
        {job.active.length > 0 && (
          <button type="button" aria-expanded={open.value === "cancel"} onClick={toggle("cancel")}>
            Cancel run…
          </button>
        )}
        <button type="button" aria-expanded={open.value === "hint"} onClick={toggle("hint")}>
          Hint…
        </button>
        {hasHints && (
          <button type="button" onClick={() => void act("Hints cleared.", () => send("DELETE", `${path}/hints`))}>
            Clear hints
          </button>
        )}
        <Told said={said.value} />
      </div>
      {open.value === "pause" && (
        <PauseForm onPause={(body) => void act("Paused.", () => send("POST", `${path}/pause`, body), resume)} />
      )}
      {open.value === "run" && (
        <Question text="Run it now, beside its own times?" yes="Run it" no="Not now" onYes={run} onNo={shut} />
      )}
      {open.value === "cancel" && (
        <Question
          text={`End ${job.active.length === 1 ? "the run" : `${job.active.length} runs`} now?`}
          yes="End it"
          no="Let it run"
          onYes={cancel}
          onNo={shut}
        />
      )}
      {open.value === "hint" && (
        <HintForm onHint={(body) => void act("Hint set.", () => send("POST", `${path}/hints`, body))} />
      )}
    </div>
  );
}

interface QuestionProps {
  readonly text: string;
  readonly yes: string;
  readonly no: string;
  onYes(): void;
  onNo(): void;
}

function Question({ text, yes, no, onYes, onNo }: QuestionProps) {
  return (
    <div class="bar sure">
      <span>{text}</span>
      <button type="button" class="danger" ref={takeFocus} onClick={onYes}>
        {yes}
      </button>
      <button type="button" class="plain" onClick={onNo}>
        {no}
      </button>
    </div>
  );
}

function Told({ said }: { readonly said: Said | null }) {
  return (
    <span role="status" class={said?.isRefusal === true ? "refusal" : "soft"}>
      {said?.text}
      {said?.undo !== undefined && (
        <>
          {" "}
          <button type="button" class="plain" onClick={said.undo}>
            Undo
          </button>
        </>
      )}
    </span>
  );
}

function PauseForm({ onPause }: { onPause(body: object): void }) {
  const length = useSignal<number>(HOUR_MS);
  const reason = useSignal("");
  const catchUp = useSignal(false);
  function submit(event: Event): void {
    event.preventDefault();
    const untilAt = wireText(nowMs.value + length.value);
    onPause({ untilAt, reason: reason.value, catchUp: catchUp.value });
  }
  return (
    <form class="bar sure" onSubmit={submit}>
      <label>
        for{" "}
        <select
          ref={takeFocus}
          value={String(length)}
          onChange={(event) => {
            length.value = Number(event.currentTarget.value);
          }}
        >
          {LENGTHS.map(([name, ms]) => (
            <option key={ms} value={String(ms)}>
              {name}
            </option>
          ))}
        </select>
      </label>
      <label>
        because{" "}
        <input
          value={reason}
          maxLength={200}
          placeholder="so that others know why"
          onInput={(event) => {
            reason.value = event.currentTarget.value;
          }}
        />
      </label>
      <label>
        <input
          type="checkbox"
          checked={catchUp}
          onChange={(event) => {
            catchUp.value = event.currentTarget.checked;
          }}
        />{" "}
        catch up afterwards
      </label>
      <button type="submit">Pause</button>
    </form>
  );
}

const MINUTE_MS = 60_000;

function HintForm({ onHint }: { onHint(body: object): void }) {
  const minutes = useSignal("5");
  const isOnce = useSignal(false);
  const reason = useSignal("");
  function submit(event: Event): void {
    event.preventDefault();
    const ms = Number(minutes.value) * MINUTE_MS;
    const nextRunAt = wireText(Math.ceil((nowMs.value + ms) / 1_000) * 1_000);
    const wish = isOnce.value ? { intervalMs: null, nextRunAt } : { intervalMs: ms, nextRunAt: null };
    onHint({ ...wish, ttlMs: HOUR_MS, reason: reason.value });
  }
  return (
    <form class="bar sure" onSubmit={submit}>
      <label>
        run{" "}
        <select
          ref={takeFocus}
          value={isOnce.value ? "once" : "every"}
          onChange={(event) => {
            isOnce.value = event.currentTarget.value === "once";
          }}
        >
          <option value="every">every</option>
          <option value="once">once, in</option>
        </select>
      </label>
      <label>
        <input
          type="number"
          class="short"
          aria-label="Minutes"
          min={1}
          max={10_080}
          required={true}
          value={minutes}
          onInput={(event) => {
            minutes.value = event.currentTarget.value;
          }}
        />{" "}
        minutes{isOnce.value ? "" : ", for an hour"}
      </label>
      <label>
        because{" "}
        <input
          value={reason}
          maxLength={200}
          onInput={(event) => {
            reason.value = event.currentTarget.value;
          }}
        />
      </label>
      <button type="submit">Set</button>
    </form>
  );
}
