/** Every bound on an input, a loop or a retry, in one place and by name. Beyond a limit: ValidationError. */
export const LIMITS = {
  yamlFileBytes: 64 * 1024 * 1024,
  lineFileBytes: 2 * 1024 * 1024 * 1024,
  crontabFileBytes: 16 * 1024 * 1024,
  /** Twice what any cron takes of one line. */
  crontabLineChars: 256 * 1024,
  jobs: 2_000_000,
  expressionChars: 256,
  windowMs: 31 * 24 * 3_600_000,
  /** Of `@every`, `min_interval` and `max_interval`. */
  intervalMs: { min: 1000, max: 366 * 24 * 3_600_000 },
  hintTtlMs: 31 * 24 * 3_600_000,
  hintReasonChars: 1000,
  clausesPerJob: 64,
  /** Days and ranges of days of a calendar, and of all calendars of a job: a record of a decision carries them all. */
  calendarDates: 2000,
  /** Of one file. */
  calendars: 100,
  calendarNameChars: 64,
  calendarFileBytes: 1024 * 1024,
  /** What the events of a file of dates stand for, repetitions included, before they are put together. */
  calendarOccurrences: 50_000,
  argvBytes: 1024 * 1024,
  argumentBytes: 128 * 1024,
  identityBytes: 512,
  saltBytes: 512,
  deadlineMs: 366 * 24 * 3_600_000,
  timeoutMs: 366 * 24 * 3_600_000,
  httpTimeoutMs: 3_600_000,
  maxActive: 10_000,
  retries: 20,
  /** S51. */
  stopAfterFailures: 1_000,
  stopAfterRuns: 1_000_000_000,
  /** From a failure to the next attempt. */
  retryDelayMs: { min: 1000, max: 24 * 3_600_000 },
  /** Names and values together; each `NAME=value` is also bound by `argumentBytes`. */
  environmentBytes: 1024 * 1024,
  /** Files, names or credentials that variables of a job come from. */
  envSources: 256,
  stdinBytes: 1024 * 1024,
  pathBytes: 4095,
  outputBytes: { min: 1000, max: 1_000_000_000_000 },
  outputFiles: 10_000,
  urlChars: 4096,
  headers: 64,
  headerBytes: 8 * 1024,
  httpBodyBytes: 1024 * 1024,
  httpResponseBytes: { min: 1, max: 1_000_000_000 },
  excerptBytes: 4096,
  statusRanges: 64,
  /** Of what the body of an answer is to contain. */
  bodyRuleBytes: 1_024,
  /** Of a body that is read as JSON: what is made to be read slowly keeps everything else waiting for tens of milliseconds. */
  judgedBodyBytes: 262_144,
  /** Of one header, key or secret that is read from a file or the environment. */
  secretBytes: 64 * 1024,
  allowedRanges: 1000,
  notifyRules: 16,
  /** Of an endpoint, or of the job that it is in. */
  endpointNotifyRules: 4,
  endpointNotifyBytes: 16 * 1024,
  /** The shortest time without a success that anybody is told of: it is looked at every ten seconds. */
  notifyLateMs: 60_000,
  mailAddresses: 16,
  descriptionChars: 4096,
  tags: 64,
  tagChars: 64,
  /** One line of the line format or of JSON Lines: a job with the longest command there is, escaped. */
  jobLineChars: 2.5 * 1024 * 1024,
  /** Enough to mend a job by; more of the same would only cost time, and a hostile file could make it cost hours. */
  problemsPerJob: 100,
  /** Fields and modifiers of a line, and arguments of a modifier. */
  lineParts: 64,
  jsonDepth: 32,
  yamlDepth: 64,
  /** A YAML file is read job by job; whatever cannot be read so is held as a whole tree, which takes 80 times its size. */
  yamlTreeBytes: 8 * 1024 * 1024,
  yamlAnchors: 1000,
  /** Values that all aliases of a file may stand for, together: what stops an alias bomb. */
  yamlAliasedValues: 100_000,
  /** Candidates drawn before a period is unschedulable. Part of the decision contract: never change it. */
  samplingAttempts: 64,
} as const;
