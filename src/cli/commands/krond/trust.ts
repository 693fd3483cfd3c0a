import { userIdOf } from "../../../krond/boot/accounts.js";
import { configTrust, trustRules } from "../../../krond/boot/config-trust.js";
import type { ConfigCheck } from "../../../persist/config-files.js";
import { usageError } from "../../exit.js";

/** Makes a check for each loading of the configuration. */
export function trustChecks(owners: string | undefined): () => ConfigCheck {
  const trustedUids = (owners ?? "")
    .split(",")
    .filter((name) => name !== "")
    .map(trustedUid);
  return () => configTrust(trustRules(trustedUids));
}

function trustedUid(name: string): number {
  const uid = userIdOf(name.trim());
  if (uid === null) throw usageError(`--trust-owner: there is no user "${name.trim()}"`);
  return uid;
}
