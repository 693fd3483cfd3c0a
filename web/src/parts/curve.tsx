/** A figure over the last minutes, as it was told to this page. */
const WIDTH = 240;
const HEIGHT = 44;

export function Curve({
  name,
  values,
  unit,
  digits = 0,
}: {
  readonly name: string;
  readonly values: readonly number[];
  readonly unit: string;
  /** Behind the point. */
  readonly digits?: number;
}) {
  const most = Math.max(1, ...values);
  const last = values.at(-1) ?? 0;
  const text = (value: number): string => value.toLocaleString("en", { maximumFractionDigits: digits });
  const step = WIDTH / Math.max(1, values.length - 1);
  const points = values.map(
    (value, at) => `${(at * step).toFixed(1)} ${(HEIGHT - 3 - (value / most) * (HEIGHT - 8)).toFixed(1)}`,
  );
  return (
    <figure class="curve">
      <figcaption>
        <span class="soft">{name}</span>{" "}
        <b>
          {text(last)} {unit}
        </b>{" "}
        <span class="soft small">
          at most {text(Math.max(0, ...values))} {unit}
        </span>
      </figcaption>
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        <path class="line" d={`M0 ${HEIGHT - 2}H${WIDTH}`} />
        {values.length > 1 && <path class="drawn" d={`M${points.join("L")}`} />}
      </svg>
    </figure>
  );
}
