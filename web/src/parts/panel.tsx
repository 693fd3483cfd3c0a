import type { ComponentChildren } from "preact";

/** What may be wider than the page scrolls by itself, and can be reached by the keyboard for that. */
export function Panel({ name, children }: { readonly name: string; readonly children: ComponentChildren }) {
  return (
    <section class="panel" tabIndex={0} aria-label={name}>
      {children}
    </section>
  );
}

export function Refused({ text }: { readonly text: string | null }) {
  if (text === null) return null;
  return (
    <p class="refusal" role="alert">
      {text}
    </p>
  );
}

export interface Figure {
  readonly name: string;
  readonly value: string;
  readonly unit?: string;
}

export function Figures({ figures }: { readonly figures: readonly Figure[] }) {
  return (
    <dl class="figures">
      {figures.map(({ name, value, unit }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            {value}
            {unit !== undefined && <small> {unit}</small>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

export function countText(count: number): string {
  return count.toLocaleString("en");
}
