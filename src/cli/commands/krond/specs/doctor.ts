import type { CommandSpec } from "../../../command.js";
import { STATE_OPTION } from "../../../state-options.js";
import { STORE_OPTIONS } from "../../../store-words.js";

export const DOCTOR: CommandSpec = {
  name: "doctor",
  summary: "measure this machine, and say what to expect of it",
  usage: "[OPTIONS]",
  details: `
Measures how long a durable write takes on the state directory, how many processes a second can be made ready and started,
how late timers are and whether the clock runs evenly; looks at the disk, the limits and the programs that the daemon needs.
Of state in a database also how long that takes to answer and to keep something.
Takes some seconds, changes nothing and leaves nothing behind. Run it as the daemon's user. Exits 1 when something is bad.

  krond doctor --state /var/lib/krond`,
  options: [STATE_OPTION, ...STORE_OPTIONS],
};
