/** Rows of jobs, those of crontabs with what people call them: their identities are hashes. */
import { calledField } from "../../core/config/crontab/called.js";
import { storedDefinition } from "../../core/job/stored.js";
import type { StateReader } from "../../persist/store.js";

type Called<Row> = Row & { readonly called?: string };

export async function withCrontabNames<Row extends { readonly identity: string }>(
  reader: Pick<StateReader, "definitionVersions">,
  rows: readonly Row[],
): Promise<readonly Called<Row>[]> {
  const known = new Map<string, Promise<{ readonly called?: string }>>();
  return Promise.all(
    rows.map(async (row): Promise<Called<Row>> => {
      const { identity } = row;
      if (!identity.startsWith("crontab:")) return row;
      const called = known.get(identity) ?? calledOf(reader, identity);
      known.set(identity, called);
      return { ...row, ...(await called) };
    }),
  );
}

/** A line that is gone from its file is called as it last was. */
async function calledOf(
  reader: Pick<StateReader, "definitionVersions">,
  identity: string,
): Promise<{ readonly called?: string }> {
  for (const { text, isIntact } of (await reader.definitionVersions(identity)).toReversed()) {
    const definition = text === null || !isIntact ? null : storedDefinition(text);
    if (definition !== null) return calledField(identity, definition.description);
  }
  return {};
}
