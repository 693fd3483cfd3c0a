/** A row that is opened in its place: everything that is on record of one period, in the order in which it happened. */
import type { ComponentChildren } from "preact";
import { useAsked, useChanges } from "../asked.js";
import { reasonText } from "../outcome.js";
import type { Why } from "../shapes.js";
import { clockText, instantOf, localText, momentText, spanText } from "../time.js";
import { Refused } from "./panel.js";

interface OpenerProps {
  readonly isOpen: boolean;
  /** For those who do not see the line it stands in. */
  readonly label?: string;
  onTurn(): void;
  readonly children: ComponentChildren;
}

export function Opener({ isOpen, label, onTurn, children }: OpenerProps) {
  const named = label === undefined ? {} : { "aria-label": label };
  return (
    <button type="button" class="link opener" aria-expanded={isOpen} onClick={onTurn} {...named}>
      {children}
    </button>
  );
}

interface Happened {
  readonly at: string;
  readonly what: string;
}

export function WhatHappened({ identity, periodId }: { readonly identity: string; readonly periodId: string }) {
  const path = `/schedules/${encodeURIComponent(identity)}/why?periodAt=${encodeURIComponent(periodId)}`;
  const why = useAsked<Why>(path);
  useChanges((identities) => identities === null || identities.includes(identity), why.again);
  if (why.it === null) return why.refusal === null ? <p class="soft">…</p> : <Refused text={why.refusal} />;
  const events = eventsOf(why.it);
  return (
    <>
      <p>{localText(why.it.text)}</p>
      <ol class="events">
        {events.map(({ at, what }, place) => (
          <li key={`${at} ${what}`}>
            <time dateTime={at} title={momentText(at)}>
              {clockText(at)}
            </time>{" "}
            {what} <span class="soft">{distanceFrom(events[place - 1], at)}</span>
          </li>
        ))}
      </ol>
    </>
  );
}

function distanceFrom(before: Happened | undefined, at: string): string {
  const ms = before === undefined ? 0 : instantOf(at) - instantOf(before.at);
  return ms > 0 ? `${spanText(ms)} later` : "";
}

function eventsOf({ periodId, windowStart, windowEnd, chosenTime, run, attempts }: Why): readonly Happened[] {
  const hasWindow = windowStart !== null && windowEnd !== null && windowStart !== windowEnd;
  const runs = attempts ?? (run === null ? [] : [run]);
  const told: readonly (Happened | null)[] = [
    happened(hasWindow ? windowStart : null, "its window opened"),
    happened(periodId, "meant for"),
    happened(chosenTime, "the second that was chosen"),
    ...runs.flatMap((each, place) => [
      happened(each.startedAt, `claimed and started${nthText(place)}`),
      happened(each.endedAt, `ended${nthText(place)}: ${endText(each)}`),
    ]),
    happened(hasWindow ? windowEnd : null, "its window closed"),
  ];
  // What happened in one second stays in the order in which it is written here.
  return told.flatMap((it) => it ?? []).sort((one, other) => instantOf(one.at) - instantOf(other.at));
}

function happened(at: string | null | undefined, what: string): Happened | null {
  return at == null || Number.isNaN(instantOf(at)) ? null : { at, what };
}

function nthText(place: number): string {
  return place === 0 ? "" : `, attempt ${place + 1}`;
}

function endText({ exitCode, signal, status, reason }: NonNullable<Why["run"]>): string {
  const texts = [
    ...(status == null ? [] : [`status ${status}`]),
    ...(signal === null ? [] : [signal]),
    ...(exitCode === null ? [] : [`exit code ${exitCode}`]),
    ...(reason === null ? [] : [reasonText(reason)]),
  ];
  return texts.length === 0 ? "nobody saw how" : texts.join(", ");
}
