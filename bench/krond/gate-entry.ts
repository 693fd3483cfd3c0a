/** The script of Kron's gates, for the peer that makes and releases the same gates and does nothing else. */
import { gateArgv } from "../../src/actors/launcher/child/gate.js";

const ANY_GATE = { shell: "/bin/sh", umask: null, openFiles: 0, cwd: "/", argv: [] };
const [, , script] = gateArgv(ANY_GATE);
if (script === undefined) throw new Error("bench: a gate has no script");

export const gateScript = script;
