import type { CommandSpec } from "../../command.js";
import { STATE_OPTION } from "../../state-options.js";

export const DEFAULT_TOKENS = 50_000;

export const PLANNER: CommandSpec = {
  name: "planner",
  summary: "show what planners propose for endpoints, and what became of it",
  usage: "try ENDPOINT|FILE | sessions [ENDPOINT|SESSION] | rules",
  details: `
"try ENDPOINT" asks the daemon what it would propose for an endpoint now, by its id or as JOB/NAME; "sessions" lists what was
proposed, newest first, with what became of it, and shows one by its id. A daemon looks at endpoints when
'krond start --planner rules' or the endpoint itself says so.

"try FILE" needs no daemon: it reads the situation of one endpoint, its schedule, bounds, hints and either its health or its runs, as JSON from FILE or
standard input ("-"), and shows what would be proposed and why. Nothing is changed. By default the rules are asked, which
need no network; with --chat a model is, at any endpoint that speaks as OpenAI's chat completions do. Where the model cannot
be asked the rules are, and it is said so. "rules" prints the rules with their numbers.

The key of a server is named, never given: --key-env OPENAI_API_KEY, or --key-file FILE.

  kron planner try ep_3k9x0c7m2v5q8r1t
  kron planner sessions ep_3k9x0c7m2v5q8r1t
  kron planner try situation.json
  kron planner try situation.json --chat https://api.example.com/v1 --model NAME --key-env API_KEY
  kron planner try situation.json --chat http://localhost:11434/v1 --model NAME --allow-private -o json`,
  options: [
    STATE_OPTION,
    { name: "tenant", value: "NAME", help: "whose endpoint it is (default: default)" },
    { name: "planner", value: "rules|chat", help: "try ENDPOINT: ask this one, whatever the endpoint has" },
    { name: "limit", value: "N", help: "sessions: at most so many (default: 20)" },
    { name: "chat", value: "URL", help: "ask a model there: what stands before /chat/completions" },
    { name: "model", value: "NAME", help: "which model; needed with --chat" },
    { name: "key-env", value: "NAME", help: "the environment variable that holds the key" },
    { name: "key-file", value: "FILE", help: "the file that holds the key" },
    { name: "allow-private", help: "the model may be on this machine or a private network" },
    { name: "tokens", value: "N", help: `tokens that the session may use (default: ${DEFAULT_TOKENS})` },
  ],
};
