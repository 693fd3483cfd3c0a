/** Which jobs of a store a list is to show, while no daemon runs that would know without reading them. */
import type { JobStatus } from "../../actors/supervisor/port.js";
import { type IsWanted, isTagged, wantedBy } from "../../actors/supervisor/rows/job-filter.js";
import type { ListFilter } from "../../actors/supervisor/rows/job-query.js";
import type { StateReader } from "../../persist/store.js";

export class ListJudge {
  readonly #isWanted: IsWanted;
  readonly #tags: readonly string[];
  readonly #reader: Pick<StateReader, "newestVersion">;

  constructor(filter: ListFilter, reader: Pick<StateReader, "newestVersion">) {
    this.#isWanted = wantedBy(filter);
    this.#tags = filter.tags;
    this.#reader = reader;
  }

  async wanted(rows: readonly JobStatus[]): Promise<readonly JobStatus[]> {
    const wanted = rows.filter(this.#isWanted);
    if (this.#tags.length === 0) return wanted;
    const versions = await Promise.all(wanted.map(({ identity }) => this.#reader.newestVersion(identity)));
    return wanted.filter((_, index) => isTagged(versions[index], this.#tags));
  }
}
