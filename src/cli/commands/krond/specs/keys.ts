import type { CommandSpec } from "../../../command.js";
import { SCOPES } from "../../../key-words.js";
import { STATE_OPTION } from "../../../state-options.js";

export const KEYS: CommandSpec = {
  name: "keys",
  summary: "make, list, replace and revoke keys of the HTTP API",
  usage: "create | list | rotate ID | revoke ID",
  details: `
create  makes a key and shows it, this once: only its hash is kept. Without --tenant it is the host's, and good for schedules
        and the daemon itself; with it, for what is that tenant's and nothing else.
list    says which keys there are, what they are good for, and when they were last used.
rotate  makes a key in the place of another, which goes on for --grace so that nobody is locked out meanwhile.
revoke  takes a key back: from now on it opens nothing.

Scopes: read sees, write acts on jobs as well, admin on the daemon and its keys too. The daemon must be running.

  krond keys create --scope read --name dashboard`,
  options: [
    STATE_OPTION,
    { name: "scope", value: SCOPES.join("|"), words: SCOPES, help: "create: what the key is good for" },
    { name: "tenant", value: "NAME", help: "create: whose it is (default: the host's)" },
    { name: "name", value: "TEXT", help: "create: what it is for, in your words" },
    {
      name: "expires",
      value: "WHEN",
      help: "create: until when it is good: 90d, 2027-01-01 ... (default: until revoked)",
    },
    { name: "rate", value: "N", help: "create: requests a second (default: what krond start --api-rate says)" },
    { name: "grace", value: "DURATION", help: "rotate: how long the old key goes on (default: 24h; 0s: not at all)" },
    { name: "dry-run", help: "create, rotate, revoke: judge everything, and change nothing" },
  ],
};
