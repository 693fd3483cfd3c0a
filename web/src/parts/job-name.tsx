/** A job by its name; an endpoint of a tenant by what its people call it, beside it the way to its own page. */
import { endpointAddress, jobAddress } from "../router.js";
import type { EndpointTold } from "../shapes.js";
import { shortened } from "../view.js";

export interface NamedRow {
  readonly identity: string;
  readonly endpoint?: EndpointTold | undefined;
}

/** `nightly sync / prices`. */
export function nameOf({ identity, endpoint }: NamedRow): string {
  return endpoint === undefined ? identity : `${endpoint.job} / ${endpoint.name}`;
}

/** Whose tenant nobody has named. */
const DEFAULT = "default";

interface Props {
  readonly row: NamedRow;
  /** Longer ones lose their middle. */
  readonly mostChars?: number;
  /** Within a grid, which has the keys. */
  readonly tabIndex?: number;
}

export function JobName({ row, mostChars = Number.POSITIVE_INFINITY, tabIndex }: Props) {
  const name = nameOf(row);
  const focus = tabIndex === undefined ? {} : { tabIndex };
  return (
    <>
      <a href={jobAddress(row.identity)} title={row.identity} {...focus}>
        {shortened(name, mostChars)}
      </a>
      {row.endpoint !== undefined && (
        <>
          {" "}
          <a
            class="soft small"
            href={endpointAddress(row.endpoint)}
            aria-label={`endpoint of ${row.endpoint.tenant}`}
            {...focus}
          >
            {row.endpoint.tenant === DEFAULT ? "endpoint" : `of ${row.endpoint.tenant}`}
          </a>
        </>
      )}
    </>
  );
}
