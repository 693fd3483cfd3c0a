/** What may be said of an endpoint on the command line. What has no option stands in a file. */
import { HTTP_METHODS, PLANNER_CHOICES, REQUEST_CARRIERS, WINDOW_SIDES } from "../../../core/job/choices.js";
import { type OptionSpec, TZ_OPTION } from "../../args.js";

export const DEFAULT_BACKOFF = "30s";

/** Of an endpoint, or of all of a job. */
export const NOTIFY_OPTIONS: readonly OptionSpec[] = [
  {
    name: "notify",
    value: "URL",
    repeats: true,
    help: "who is told by a webhook when it fails and recovers; none: nobody, job: as its job has it",
  },
  { name: "notify-after", value: "N", help: "told when so many runs in a row have failed (default: 1)" },
  { name: "notify-secret", value: "FROM", help: "signs what is told, with a secret from env:NAME or file:PATH" },
];

export const FIELD_OPTIONS: readonly OptionSpec[] = [
  {
    name: "file",
    value: "FILE",
    help: "fields in YAML or JSON, as docs/endpoints.md has them; options go before them",
  },
  { name: "url", value: "URL", help: "where requests go: http or https" },
  { name: "method", value: HTTP_METHODS.join("|"), words: HTTP_METHODS, help: "of the request (default: GET)" },
  {
    name: "header",
    value: "NAME: VALUE",
    repeats: true,
    help: "a header; without a value it is left out; may be given again",
  },
  {
    name: "secret-header",
    value: "NAME=FROM",
    repeats: true,
    help: "a header that is kept sealed, its value from env:NAME or file:PATH; may be given again",
  },
  { name: "body", value: "TEXT", help: "what is sent" },
  { name: "body-file", value: "FILE", help: "what is sent, from a file; - is standard input" },
  { name: "cron", value: "EXPRESSION", help: "runs by the clock of --timezone, such as '0 2 * * *'" },
  {
    name: "every",
    value: "DURATION",
    help: "runs at this interval instead, from the start of one to that of the next",
  },
  { name: "timezone", value: "ZONE", help: "of the expression (default: UTC)" },
  { name: "window", value: "DURATION", help: "how far a run may lie from its time" },
  { name: "window-mode", value: WINDOW_SIDES.join("|"), words: WINDOW_SIDES, help: "on which side (default: after)" },
  { name: "min-interval", value: "DURATION", help: "no two runs are closer; none: no such bound" },
  { name: "max-interval", value: "DURATION", help: "no two runs are farther apart; none: no such bound" },
  { name: "timeout", value: "DURATION", help: "of a request, to the last byte of its answer (default: 30s)" },
  { name: "max-response", value: "SIZE", help: "of an answer, taken up to the next whole KiB (default: 1000KiB)" },
  { name: "success", value: "STATUS,...", help: "what counts as success: 2xx, 304, 200-204 (default: 2xx)" },
  { name: "deadline", value: "DURATION", help: "how late a run of the expression may begin; none: as usual, a minute" },
  { name: "retries", value: "N", help: "further attempts of a run that failed; 0: none" },
  { name: "backoff", value: "DURATION", help: `until the first of them; it doubles (default: ${DEFAULT_BACKOFF})` },
  { name: "success-contains", value: "TEXT", help: "what the body of such an answer must contain; none: anything" },
  {
    name: "success-json",
    value: "POINTER=VALUE",
    help: "or what its JSON must have at a pointer, such as /status=ok or /count=0",
  },
  { name: "auto-pause", value: "N", help: "paused after so many failed runs in a row; none: never" },
  { name: "max-runs", value: "N", help: "so many runs, and then it is paused for good; none: without end" },
  { name: "end-at", value: "WHEN", help: "nothing of it begins from then on; none: without end" },
  ...NOTIFY_OPTIONS,
  TZ_OPTION,
  {
    name: "by",
    value: REQUEST_CARRIERS.join("|"),
    words: REQUEST_CARRIERS,
    help: "who sends the request: krond itself, or a worker of yours that claims the run (default: krond)",
  },
  {
    name: "planner",
    value: PLANNER_CHOICES.join("|"),
    words: PLANNER_CHOICES,
    help: "who looks at it and lets it run otherwise for a while; none: as 'krond start --planner' says",
  },
  { name: "tag", value: "TAG,...", help: "for people, and to find it by" },
  { name: "description", value: "TEXT", help: "for people" },
];
