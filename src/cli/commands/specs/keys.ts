import { SCOPES } from "../../key-words.js";
import { STATE_OPTION } from "../../state-options.js";
import { commandOfVerbs, type VerbsSpec } from "../../verbs.js";
import { REHEARSAL } from "./endpoint-options.js";

/** Of `kron`, for people, and of `krond`, where it was first. */
export const KEYS_VERBS = {
  name: "keys",
  summary: "make, list, replace and revoke keys of the HTTP API",
  details: `
A key is what a program shows to the HTTP API, and shown once, when it is made: only its hash is kept. Without --tenant it is the
host's, and good for schedules and the daemon itself; with it, for what is that tenant's and nothing else. Scopes: read sees, write
acts on jobs as well, admin on the daemon and its keys too. ID is the eight characters behind kron_. The daemon must be running.`,
  verbs: {
    create: {
      takes: "[OPTIONS]",
      summary: "makes a key and shows it, this once",
      options: [
        { name: "scope", value: SCOPES.join("|"), words: SCOPES, help: "what the key is good for" },
        { name: "tenant", value: "NAME", help: "whose it is (default: the host's)" },
        { name: "name", value: "TEXT", help: "what it is for, in your words" },
        {
          name: "expires",
          value: "WHEN",
          help: "until when it is good: 90d, 2027-01-01 ... (default: until revoked)",
        },
        { name: "rate", value: "N", help: "requests a second (default: what krond start --api-rate says)" },
        REHEARSAL,
      ],
    },
    list: { takes: "", summary: "which keys there are, what for, and when they were last used", options: [] },
    rotate: {
      takes: "ID",
      summary: "makes a key in the place of another, which goes on for a while",
      options: [
        { name: "grace", value: "DURATION", help: "how long the old key goes on (default: 24h; 0s: not at all)" },
        REHEARSAL,
      ],
    },
    revoke: { takes: "ID", summary: "takes a key back: from now on it opens nothing", options: [REHEARSAL] },
  },
  options: [STATE_OPTION],
  examples: `
kron keys create --scope read --name dashboard
kron keys create --tenant acme --scope write --expires 90d
kron keys rotate 3k5xq2mb --grace 1h`,
} as const satisfies VerbsSpec<string>;

export const KEYS = commandOfVerbs(KEYS_VERBS);
