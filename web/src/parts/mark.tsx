/** Outcomes never differ by colour alone: each has a shape of its own. */
import type { JSX } from "preact";
import { OUTCOMES, type Outcome, outcomeText } from "../outcome.js";

const BOX = { x: 1.8, y: 1.8, width: 10.4, height: 10.4, rx: 2.5, fill: "none", stroke: "currentColor" } as const;

const SHAPES: Readonly<Record<Outcome, JSX.Element>> = {
  executed: <rect x={1} y={1} width={12} height={12} rx={3} fill="currentColor" />,
  failed: (
    <>
      <rect x={1} y={1} width={12} height={12} rx={3} fill="currentColor" />
      <path d="M4.4 4.4l5.2 5.2M9.6 4.4l-5.2 5.2" stroke="var(--card)" stroke-width={1.8} />
    </>
  ),
  running: (
    <>
      <circle cx={7} cy={7} r={5.3} fill="none" stroke="currentColor" stroke-width={1.6} stroke-opacity={0.35} />
      <path class="spin" d="M7 1.7a5.3 5.3 0 0 1 5.3 5.3" fill="none" stroke="currentColor" stroke-width={2.2} />
    </>
  ),
  skipped: (
    <>
      <rect {...BOX} stroke-width={1.6} />
      <path d="M4 7h6" stroke="currentColor" stroke-width={1.8} />
    </>
  ),
  missed: <path d="M7 .8L13.2 7L7 13.2L.8 7z" fill="currentColor" />,
  unschedulable: (
    <>
      <circle cx={7} cy={7} r={5.4} fill="none" stroke="currentColor" stroke-width={1.8} />
      <path d="M3.3 10.7l7.4-7.4" stroke="currentColor" stroke-width={1.8} />
    </>
  ),
  not_evaluated: <rect {...BOX} stroke-width={1.3} stroke-dasharray="2 2" />,
  unknown: (
    <text class="question" x={7} y={11.4} text-anchor="middle">
      ?
    </text>
  ),
};

export function Mark({ outcome, isNamed = true }: { readonly outcome: Outcome; readonly isNamed?: boolean }) {
  const name = isNamed ? { role: "img" as const, "aria-label": outcomeText(outcome) } : { "aria-hidden": true };
  return (
    <svg class={`mark of-${outcome}`} viewBox="0 0 14 14" {...name}>
      {SHAPES[outcome]}
    </svg>
  );
}

export function Legend() {
  return (
    <ul class="legend" aria-label="Legend">
      {OUTCOMES.map((outcome) => (
        <li key={outcome}>
          <Mark outcome={outcome} isNamed={false} />
          {outcomeText(outcome)}
        </li>
      ))}
    </ul>
  );
}
