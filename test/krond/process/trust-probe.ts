/** Loads one configuration under the rules of trust, and says what came of it. Runs as a process of its own. */

import { loadConfiguration } from "../../../src/actors/pool/load/configuration.js";
import { configTrust } from "../../../src/krond/boot/config-trust.js";

const [name = ""] = process.argv.slice(2);
const check = configTrust({ daemonUid: process.geteuid?.() ?? 0, trustedUids: [], privateGid: null });
const { jobs, findings } = await loadConfiguration([{ path: name, name }], check);
console.log(JSON.stringify({ jobs: jobs.length, findings: findings.map(({ located }) => located.problem.code) }));
