import { CONFIG_OPTION } from "../../../args.js";
import type { CommandSpec } from "../../../command.js";
import { STATE_OPTION } from "../../../state-options.js";
import { STORE_OPTIONS } from "../../../store-words.js";

export const STATE: CommandSpec = {
  name: "state",
  summary: "export, import, check and repair the state",
  usage: "export DIR | import DIR | check | recover --fence | rewind JOB",
  details: `
export  writes everything into a new directory: a state document a job, the ledger and the definitions beside them. It is
        of one instant, also beside a running daemon; for a store of files that needs the daemon to be stopped, or --live.
import  fills an empty state directory, or an empty database (--store), from such a directory.
check   reads everything once; exits 3 if anything is damaged.
recover opens a damaged or missing store again. Everything up to now counts as handled, for every job that is configured or
        in force, so that nothing runs a second time; what could not be read is kept aside. Of a database no configuration
        is needed, and its clock counts too, with five seconds more.
rewind  frees the periods that a clock running ahead has marked as handled.

Import, recover and rewind need the daemon to be stopped.

  krond state export /backup/kron-state`,
  options: [
    CONFIG_OPTION,
    STATE_OPTION,
    ...STORE_OPTIONS,
    { name: "live", help: "export: whatever is there, even if it is not of one instant" },
    { name: "fence", help: "recover: count everything up to now as handled" },
  ],
};
