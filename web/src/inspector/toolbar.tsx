/** Whom to watch, where in time to stand, and the recording as a file. */
import { useRef } from "preact/hooks";
import {
  cursor,
  follows,
  goLive,
  hidden,
  hold,
  identity,
  isOff,
  KINDS,
  show,
  source,
  step,
  trouble,
  turnOff,
  view,
  watch,
} from "./store.js";
import { exported, FILE_LIMITS, imported } from "./transfer.js";

export function Toolbar() {
  return (
    <div class="bar">
      <Whom />
      <Time />
      <File />
    </div>
  );
}

function Whom() {
  const watchAnew = (event: Event): void => {
    event.preventDefault();
    watch();
  };
  return (
    <form class="whom" onSubmit={watchAnew}>
      <input
        type="search"
        aria-label="Jobs to watch, * stands for any text"
        placeholder="all jobs, or prod/*"
        value={identity.value}
        onInput={(event) => {
          identity.value = event.currentTarget.value;
        }}
      />
      <button type="submit">Watch</button>
      <button type="button" disabled={isOff.value || source.value.file !== null} onClick={turnOff}>
        Stop
      </button>
      <fieldset>
        <legend class="hidden">Kinds of actors</legend>
        {KINDS.map((kind) => (
          <label key={kind} class="check">
            <input type="checkbox" checked={!hidden.value.has(kind)} onChange={() => toggle(kind)} />
            {kind}
          </label>
        ))}
      </fieldset>
    </form>
  );
}

/** What is shown changes at once; what is sent, when it is watched anew. */
function toggle(kind: string): void {
  const next = new Set(hidden.value);
  if (!next.delete(kind)) next.add(kind);
  hidden.value = next;
}

function Time() {
  const isLive = cursor.value === null;
  return (
    <div class="time-controls" role="group" aria-label="Time">
      <button type="button" aria-label="Back" onClick={() => step(-1)}>
        ◂ Back
      </button>
      <button type="button" aria-label="Step" onClick={() => step(1)}>
        Step ▸
      </button>
      {isLive ? (
        <button type="button" onClick={hold}>
          Pause
        </button>
      ) : (
        <button type="button" class="go" onClick={goLive}>
          Live
        </button>
      )}
      <label class="check">
        <input
          type="checkbox"
          checked={follows.value}
          onChange={(event) => {
            follows.value = event.currentTarget.checked;
          }}
        />
        Follow
      </label>
    </div>
  );
}

function File() {
  const input = useRef<HTMLInputElement>(null);
  const read = async (): Promise<void> => {
    const [file] = input.current?.files ?? [];
    if (file === undefined) return;
    const isTooLarge = file.size > FILE_LIMITS.chars;
    const lines = isTooLarge ? "it is too large" : imported(await file.text());
    if (typeof lines === "string") trouble.value = `${file.name} is no recording: ${lines}`;
    else show(file.name, lines);
    if (input.current) input.current.value = "";
  };
  return (
    <div class="file" role="group" aria-label="Recording">
      <button type="button" onClick={save} disabled={view.value.recording.end === view.value.recording.first}>
        Export
      </button>
      <button type="button" onClick={() => input.current?.click()}>
        Import
      </button>
      <input
        ref={input}
        type="file"
        class="hidden"
        tabIndex={-1}
        aria-label="File of a recording"
        accept=".jsonl,.txt,application/jsonl"
        onChange={() => void read()}
      />
    </div>
  );
}

function save(): void {
  const url = URL.createObjectURL(new Blob([exported(view.value.recording)], { type: "application/jsonl" }));
  const link = document.createElement("a");
  link.href = url;
  link.download = `kron-inspector-${new Date().toISOString().replaceAll(/[:.]/g, "-")}.jsonl`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1_000);
}

/** Where one stands, and what cannot be seen. */
export function Standing() {
  const { recording, moment } = view.value;
  const { moments, leftOutHere, leftOutThere } = recording;
  const { file, isLive } = source.value;
  const total = moments.end;
  const number = (moment?.number ?? -1) + 1;
  const connected = isLive ? "live" : isOff.value ? "not watching" : "not connected";
  const from = file ?? connected;
  const place = cursor.value === null ? `${total} moments` : `moment ${number} of ${total}, paused`;
  const lost = leftOutHere + leftOutThere;
  return (
    <p class="standing">
      <span role="status">{cursor.value === null ? "" : place}</span>
      {cursor.value === null && <span>{place}</span>}
      <span> · {from}</span>
      {recording.first > 0 && <span> · the oldest {recording.first} frames have made room</span>}
      {lost > 0 && <span class="refusal"> · {lost} frames were left out: watch fewer jobs</span>}
      {trouble.value !== null && (
        <span class="refusal" role="alert">
          {" "}
          · {trouble.value}
        </span>
      )}
    </p>
  );
}
