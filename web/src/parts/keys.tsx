/** API keys: who has one, making one, replacing it, taking it back. What a key says is shown once. */
import { useSignal } from "@preact/signals";
import type { KeyAnswer, NewKeyAnswer } from "../../../src/operations/keys/keys.js";
import { useAsked } from "../asked.js";
import { send } from "../data.js";
import type { Page, Told } from "../shapes.js";
import { distanceText, nowMs, wireText } from "../time.js";
import { Panel, Refused } from "./panel.js";
import { Sure } from "./sure.js";
import { type Column, Line, Table } from "./table.js";

type Key = Told<KeyAnswer>;
type NewKey = Told<NewKeyAnswer>;

const MOST = 100;
const DAY_MS = 86_400_000;
const LIFETIMES = [
  ["never", null],
  ["in a week", 7],
  ["in 90 days", 90],
  ["in a year", 365],
] as const;

export function Keys() {
  const asked = useAsked<Page<Key>>(`/keys?limit=${MOST}`);
  const made = useSignal<NewKey | null>(null);
  const refusal = useSignal<string | null>(null);
  const isMaking = useSignal(false);
  function act(asking: Promise<NewKey | Key>): void {
    asking
      .then(
        (it) => {
          made.value = "key" in it ? it : null;
          refusal.value = null;
          isMaking.value = false;
        },
        (error: Error) => {
          refusal.value = error.message;
        },
      )
      .finally(asked.again);
  }
  const rows = asked.it?.rows ?? [];
  return (
    <section>
      <h2>API keys</h2>
      <Panel name="API keys">
        <Refused text={asked.refusal ?? refusal.value} />
        <NewOne made={made.value} onSeen={() => (made.value = null)} />
        {asked.it !== null && rows.length === 0 && <p class="soft">Nobody has one.</p>}
        {rows.length > 0 && <KeyTable rows={rows} onAct={act} />}
        {asked.it?.next != null && <p class="soft small">There are more: `kron keys list` names all.</p>}
        <div class="bar">
          <button
            type="button"
            aria-expanded={isMaking.value}
            onClick={() => {
              isMaking.value = !isMaking.value;
            }}
          >
            New key…
          </button>
        </div>
        {isMaking.value && <KeyForm onMake={(wish) => act(send("POST", "/keys", wish))} />}
      </Panel>
    </section>
  );
}

function NewOne({ made, onSeen }: { readonly made: NewKey | null; onSeen(): void }) {
  if (made === null) return null;
  return (
    <p role="status" class="sure bar">
      <span>
        This is shown once: <code>{made.key}</code>
      </span>
      <button type="button" onClick={() => void navigator.clipboard?.writeText(made.key)}>
        Copy
      </button>
      <button type="button" class="plain" onClick={onSeen}>
        I have it
      </button>
    </p>
  );
}

const COLUMNS: readonly Column[] = [
  ["Key", "who"],
  ["Name", "breaks"],
  ["Whose"],
  ["May"],
  ["Last used"],
  ["Ends"],
  ["What can be done", "deeds"],
];

interface TableProps {
  readonly rows: readonly Key[];
  onAct(asking: Promise<NewKey | Key>): void;
}

function KeyTable({ rows, onAct }: TableProps) {
  return (
    <Table columns={COLUMNS}>
      {rows.map((row) => (
        <Line
          key={row.id}
          columns={COLUMNS}
          looks={row.standing === "active" ? undefined : "soft"}
          cells={[
            <code key="id">{row.id}</code>,
            row.name,
            row.tenant ?? "the host's",
            row.scope,
            row.lastUsedAt === null ? "not yet" : distanceText(row.lastUsedAt),
            endText(row),
            row.standing === "active" && <KeyActions row={row} onAct={onAct} />,
          ]}
        />
      ))}
    </Table>
  );
}

function endText({ standing, expiresAt, rotatedTo }: Key): string {
  const by = rotatedTo === null ? "" : `, replaced by ${rotatedTo}`;
  if (standing !== "active") return `${standing}${by}`;
  return `${expiresAt === null ? "never" : distanceText(expiresAt)}${by}`;
}

function KeyActions({ row, onAct }: { readonly row: Key; readonly onAct: TableProps["onAct"] }) {
  return (
    <>
      {row.rotatedTo === null && (
        <Sure
          name="Replace"
          of={row.id}
          question="The old one ends in a day."
          onSure={() => onAct(send("POST", `/keys/${row.id}/rotate`, {}))}
        />
      )}
      <Sure name="Revoke" of={row.id} question="At once?" onSure={() => onAct(send("DELETE", `/keys/${row.id}`))} />
    </>
  );
}

function KeyForm({ onMake }: { onMake(wish: object): void }) {
  const name = useSignal("");
  const tenant = useSignal("");
  const scope = useSignal("read");
  const days = useSignal("");
  function submit(event: Event): void {
    event.preventDefault();
    const expiresAt = days.value === "" ? null : wireText(nowMs.value + Number(days.value) * DAY_MS);
    const whose = tenant.value.trim() === "" ? null : tenant.value.trim();
    onMake({ name: name.value.trim(), tenant: whose, scope: scope.value, expiresAt });
  }
  return (
    <form class="bar sure" onSubmit={submit}>
      <label>
        name{" "}
        <input
          value={name}
          maxLength={100}
          placeholder="who has it"
          onInput={(event) => {
            name.value = event.currentTarget.value;
          }}
        />
      </label>
      <label>
        tenant{" "}
        <input
          value={tenant}
          maxLength={64}
          placeholder="none: the host's"
          onInput={(event) => {
            tenant.value = event.currentTarget.value;
          }}
        />
      </label>
      <label>
        may{" "}
        <select value={scope.value} onChange={(event) => (scope.value = event.currentTarget.value)}>
          <option value="read">read</option>
          <option value="write">write</option>
          <option value="admin">admin</option>
        </select>
      </label>
      <label>
        ends{" "}
        <select value={days.value} onChange={(event) => (days.value = event.currentTarget.value)}>
          {LIFETIMES.map(([text, count]) => (
            <option key={text} value={count === null ? "" : String(count)}>
              {text}
            </option>
          ))}
        </select>
      </label>
      <button type="submit">Make it</button>
    </form>
  );
}
