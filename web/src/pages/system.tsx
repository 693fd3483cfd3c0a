import { useSignal } from "@preact/signals";
import { useAsked } from "../asked.js";
import { daemon, pulses, send } from "../data.js";
import { ChroniclePart } from "../parts/chronicle.js";
import { Curve } from "../parts/curve.js";
import { Keys } from "../parts/keys.js";
import { Nodes } from "../parts/nodes.js";
import { countText, Figures, Panel, Refused } from "../parts/panel.js";
import { Sessions } from "../parts/sessions.js";
import { tellIn } from "../preferences.js";
import { jobAddress } from "../router.js";
import { isAdmin, logOut, session } from "../session.js";
import type { Plan, Status } from "../shapes.js";
import { instantOf, momentText, nowMs, spanText, VIEWER_ZONE, zone } from "../time.js";

export function System() {
  const status = useAsked<Status>("/system");
  const it = status.it;
  const reloads = useSignal(0);
  return (
    <>
      <h1 tabIndex={-1}>System</h1>
      <Refused text={status.refusal} />
      {it !== null && (
        <>
          <p class="soft">
            {it.node !== undefined && (
              <>
                Node <b>{it.node}</b>:{" "}
              </>
            )}
            Kron {it.version}, process {it.pid}, state in <code>{it.stateDirectory}</code>
          </p>
          <Figures
            figures={[
              { name: "Up for", value: spanText(nowMs.value - instantOf(it.bootedAt)) },
              { name: "Jobs", value: countText(daemon.value?.jobs ?? it.jobs) },
              { name: "Running", value: countText(daemon.value?.active ?? it.active) },
              { name: "Made ready", value: countText(daemon.value?.armed ?? it.armed) },
            ]}
          />
        </>
      )}
      {it?.nodes !== undefined && <Nodes own={it.node ?? ""} nodes={it.nodes} />}
      <Curves />
      {it !== null && it.nodes === undefined && (
        <ReloadPart
          onReload={() => {
            reloads.value += 1;
          }}
        />
      )}
      <ChroniclePart revision={reloads.value} />
      {isAdmin() && <Sessions />}
      {isAdmin() && <Keys />}
      <Preferences />
    </>
  );
}

function Curves() {
  const told = pulses.value;
  return (
    <section>
      <h2>Since this page was opened</h2>
      <div class="curves">
        <Curve name="Starts, 1 min" unit="" values={told.map(({ started }) => started)} />
        <Curve name="Start lateness, p99" unit="ms" values={told.map(({ latenessMs }) => latenessMs ?? 0)} />
        <Curve name="Loop delay, p99" unit="ms" values={told.map(({ loopMs }) => loopMs)} />
        <Curve name="Commits, p99" unit="ms" digits={1} values={told.map(({ commitMs }) => commitMs ?? 0)} />
        <Curve name="Memory" unit="MB" values={told.map(({ memoryMb }) => memoryMb)} />
      </div>
    </section>
  );
}

function ReloadPart({ onReload }: { onReload(): void }) {
  const plan = useAsked<Plan>("/system/plan");
  const said = useSignal<string | null>(null);
  const refusal = useSignal<string | null>(null);
  async function reload(): Promise<void> {
    try {
      const done = await send<Plan>("POST", "/system/reload", {});
      said.value = `Done: ${countsText(done)}.`;
      refusal.value = null;
    } catch (error) {
      refusal.value = (error as Error).message;
    }
    onReload();
    plan.again();
  }
  const it = plan.it;
  return (
    <section>
      <h2>What a reload would change</h2>
      <Panel name="What a reload would change">
        <Refused text={plan.refusal ?? refusal.value} />
        {it === null ? <p class="soft">Reading the configuration…</p> : <PlanTold plan={it} />}
        <div class="bar">
          <button type="button" onClick={plan.again}>
            Look again
          </button>
          {isAdmin() && (
            <button type="button" onClick={() => void reload()}>
              Reload
            </button>
          )}
          <span role="status" class="soft">
            {said}
          </span>
        </div>
      </Panel>
    </section>
  );
}

function countsText({ plan }: Plan): string {
  const { added, removed, changed, unchanged } = plan;
  const counts = [
    [added.length, "added"],
    [removed.length, "removed"],
    [changed.length, "changed"],
    [unchanged, "as they are"],
  ] as const;
  return counts.map(([count, what]) => `${countText(count)} ${what}`).join(", ");
}

const NAMED = 50;

function PlanTold({ plan }: { readonly plan: Plan }) {
  const { added, removed, changed } = plan.plan;
  const more = added.length + removed.length + changed.length - 3 * NAMED;
  return (
    <>
      <p>{countsText(plan)}</p>
      <ul class="plain-list">
        {changed.slice(0, NAMED).map((job) => (
          <li key={job.identity}>
            ~ <a href={jobAddress(job.identity)}>{job.identity}</a> <span class="soft">{job.fields.join(", ")}</span>
            {job.movesFrom !== job.movesTo && (
              <>
                {" "}
                {momentOr(job.movesFrom)} → {momentOr(job.movesTo)}
              </>
            )}
          </li>
        ))}
        {added.slice(0, NAMED).map((identity) => (
          <li key={identity}>+ {identity}</li>
        ))}
        {removed.slice(0, NAMED).map((identity) => (
          <li key={identity}>− {identity}</li>
        ))}
        {plan.problems.map((problem) => (
          <li key={problem} class="refusal">
            {problem}
          </li>
        ))}
      </ul>
      {more > 0 && <p class="soft small">Of many only the first are named here; `kron plan` names all.</p>}
    </>
  );
}

function momentOr(moment: string | null): string {
  return moment === null || moment === "" ? "never" : momentText(moment);
}

function Preferences() {
  return (
    <section>
      <h2>This page</h2>
      <Panel name="This page">
        <p>
          You may{" "}
          {session.value?.scope === "read"
            ? "look"
            : session.value?.scope === "write"
              ? "look and act on jobs"
              : "do everything"}
          .
        </p>
        <div class="bar">
          <label>
            Times in{" "}
            <select value={zone.value} onChange={(event) => tellIn(event.currentTarget.value)}>
              <option value={VIEWER_ZONE}>{VIEWER_ZONE}</option>
              {VIEWER_ZONE !== "UTC" && <option value="UTC">UTC</option>}
            </select>
          </label>
          <button type="button" onClick={() => void logOut()}>
            Log out
          </button>
        </div>
      </Panel>
    </section>
  );
}
