/** What all nodes of a store have to have in common, settled by the first of them. */
import { randomBytes } from "node:crypto";
import type { ClusterTurns } from "../../actors/cluster/turns.js";
import { LazySecretBox, type Sealer, secretKeyIn } from "../../actors/dispatcher/seal.js";
import { fingerprintOf, sharedSecretBoxIn } from "../../actors/dispatcher/shared-seal.js";
import { ENDPOINTS } from "../../operations/endpoints/records.js";
import type { ClusterMember } from "../../persist/cluster.js";
import type { StateReader } from "../../persist/store.js";

const SECRET_KEY = "nodes/secret-key";
const CURSOR_KEY = "nodes/cursor-key";
const CURSOR_KEY_BYTES = 32;

interface Ports {
  readonly member: Pick<ClusterMember, "replaceObject">;
  readonly reader: Pick<StateReader, "object" | "objects">;
}

/** The key itself is in no store: whoever comes later has it copied. */
export async function secretsOf(
  ports: Ports & { readonly turns: Pick<ClusterTurns, "take"> },
  stateDirectory: string,
): Promise<Sealer> {
  const known = await textOf(ports, SECRET_KEY);
  const fingerprint = known ?? (await ports.turns.take(SECRET_KEY, () => firstFingerprint(ports, stateDirectory)));
  return new LazySecretBox(() => sharedSecretBoxIn(stateDirectory, fingerprint));
}

/** null: there are endpoints already, and whoever has sealed theirs has not been here yet. */
async function firstFingerprint(ports: Ports, stateDirectory: string): Promise<string | null> {
  const known = await textOf(ports, SECRET_KEY);
  if (known !== null) return known;
  const [endpoint] = await ports.reader.objects({ prefix: ENDPOINTS, limit: 1 });
  const key = secretKeyIn(stateDirectory, endpoint === undefined);
  if (!key.ok || key.value === null) return null;
  await ports.member.replaceObject(SECRET_KEY, null, fingerprintOf(key.value));
  return textOf(ports, SECRET_KEY);
}

/** Whoever may read the store may know it: it is good for nothing but to tell places that were given out from others. */
export async function cursorKeyOf(ports: Ports): Promise<Buffer> {
  const known = await textOf(ports, CURSOR_KEY);
  if (known === null) {
    await ports.member.replaceObject(CURSOR_KEY, null, randomBytes(CURSOR_KEY_BYTES).toString("base64url"));
  }
  return Buffer.from(known ?? (await textOf(ports, CURSOR_KEY)) ?? "", "base64url");
}

async function textOf({ reader }: Ports, key: string): Promise<string | null> {
  const stored = await reader.object(key);
  return stored?.isIntact === true ? stored.text : null;
}
