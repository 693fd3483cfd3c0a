/**
 * Every kind of trouble Kron can name, in one table: its category of the error model, whether it ends the daemon, and
 * the level at which it is logged. Bad input (`Problem`) and operating failures (`KronError`) both take their code from
 * here, so that a code means the same in a log line, an exit status and an API answer.
 */
export const ERROR_CATEGORIES = [
  "ConfigurationError",
  "ValidationError",
  "SchedulingError",
  "ConstraintError",
  "ExecutionError",
  "PersistenceError",
  "SystemError",
  "IncompatibleStateError",
] as const;
export type ErrorCategory = (typeof ERROR_CATEGORIES)[number];

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface ErrorKind {
  readonly category: ErrorCategory;
  /** A fatal error ends the daemon at once: continuing could start something twice. */
  readonly fatal: boolean;
  readonly level: LogLevel;
  readonly meaning: string;
  /** The error model names it, and nothing here raises it: why not, and what takes its place. */
  readonly never?: string;
}

function configuration(meaning: string): ErrorKind {
  return { category: "ConfigurationError", fatal: false, level: "error", meaning };
}

function validation(meaning: string): ErrorKind {
  return { category: "ValidationError", fatal: false, level: "error", meaning };
}

function operating(
  category: "SchedulingError" | "ConstraintError" | "ExecutionError" | "SystemError",
  meaning: string,
): ErrorKind {
  return { category, fatal: false, level: "error", meaning };
}

function fatal(category: "PersistenceError" | "SystemError" | "IncompatibleStateError", meaning: string): ErrorKind {
  return { category, fatal: true, level: "error", meaning };
}

/** Of one record or one transaction: the rest goes on. */
function recoverable(meaning: string): ErrorKind {
  return { category: "PersistenceError", fatal: false, level: "error", meaning };
}

export const ERRORS = {
  // Texts that cannot be read.
  "instant-syntax": configuration("a timestamp is not RFC 3339"),
  "duration-syntax": configuration("a duration is not written Go-style, like 1h30m"),
  "duration-negative": configuration("a duration is negative"),
  "cron-syntax": configuration("a cron expression cannot be read"),
  "timezone-unknown": configuration("a time zone is not known to the IANA database"),
  "distribution-unknown": configuration("a distribution name is not known"),
  "distribution-parameter-invalid": configuration("a distribution parameter cannot be read"),
  "distribution-parameter-unknown": configuration("a distribution has no such parameter"),
  "seed-strategy-unknown": configuration("a seed strategy is not known"),
  "field-unknown": configuration("a definition has a field that Kron does not know"),
  "field-missing": configuration("a required field is missing"),
  "field-type": configuration("a field has the wrong type"),
  "field-duplicate": configuration("a field is written twice"),
  "field-conflict": configuration("two fields exclude each other, or a field does not apply to this kind of job"),
  "name-taken": validation("a name that must be unique is another's already"),
  "environment-name": configuration("an environment variable has a name that is not allowed"),
  "file-syntax": configuration("a configuration file cannot be parsed"),
  // Texts that can be read but make no sense.
  "cron-range": validation("a cron value lies outside its field's range"),
  "cron-impossible": validation("a schedule never occurs (S4)"),
  "duration-range": validation("a duration lies outside the allowed range"),
  "instant-range": validation("an instant lies outside the supported range"),
  "distribution-parameter-range": validation("a distribution parameter is out of range"),
  "constraint-syntax": validation("a constraint clause is malformed"),
  "constraint-range": validation("a constraint value lies outside its range"),
  "calendar-unknown": validation("a constraint names a calendar that is not defined for its job"),
  "calendar-invalid": validation("a calendar or its file of dates cannot be used"),
  "window-overlap": validation("a window is longer than the smallest gap between periods (S11)"),
  "identity-invalid": validation("an identity or salt breaks S37"),
  "identity-duplicate": validation("two jobs share one identity (S37)"),
  "field-range": validation("a field's value is out of range"),
  "limit-exceeded": validation("an input is larger than its limit"),
  // The state directory and what is in it.
  "lock-held": fatal("SystemError", "another process holds the state directory (S33)"),
  "lock-unavailable": fatal("SystemError", "the state directory cannot be locked"),
  "state-permissions": fatal(
    "PersistenceError",
    "a state file or directory is a link, foreign, or open to others (S31)",
  ),
  "state-unreadable": fatal("PersistenceError", "state cannot be read"),
  "state-write-failed": fatal("PersistenceError", "a state write, sync or rename failed"),
  "state-missing": fatal("PersistenceError", "the store is gone or empty although its marker exists (S32)"),
  "state-damaged": fatal("PersistenceError", "reading the store fails or kills the process that tries (S32)"),
  "state-rewound": fatal(
    "PersistenceError",
    "the store is older than, or another than, the one the marker names (S32)",
  ),
  "state-incompatible": fatal("IncompatibleStateError", "a state version or document cannot be used (S32)"),
  "state-document-corrupt": {
    category: "PersistenceError",
    fatal: false,
    level: "error",
    meaning: "one state document was unreadable and was replaced by a fenced one (S32)",
  },
  "store-unreachable": fatal("SystemError", "the server that keeps the state does not answer"),
  "store-denied": fatal("SystemError", "the server that keeps the state lets us not in, or not do what is needed"),
  "store-unsuitable": fatal("IncompatibleStateError", "the server that keeps the state cannot keep what it confirms"),
  "lease-lost": fatal("SystemError", "the lease of the state has run out, or somebody else has the state by now (S33)"),
  // Several nodes on one store.
  "node-silent": operating("SystemError", "a node did not answer: whether it did what it was asked is not known"),
  "node-refused": operating("SystemError", "a node did not do what another has asked of it"),
  "job-unattended": operating("SystemError", "no node looks after a job now"),
  "definitions-shared": configuration("definitions that several nodes share are changed by 'kron apply' alone"),
  "node-unknown": operating("SystemError", "no node of this name shares the store"),
  "definition-unreadable": fatal("PersistenceError", "a definition on record cannot be read, and no file says it anew"),
  "state-migration-failed": fatal("IncompatibleStateError", "a migration failed or lost a handled period (S32)"),
  // Deciding. The period stays open and the decision is tried again with the same inputs (S18).
  "decision-failed": operating("SchedulingError", "a decision cannot be computed (S18)"),
  "invariant-broken": operating("SchedulingError", "an internal invariant does not hold"),
  "constraint-evaluation-failed": {
    ...operating("ConstraintError", "a constraint cannot be evaluated for a candidate"),
    never:
      "clauses are read and bounded with the definition (constraint-syntax, constraint-range), and for a candidate they are " +
      "compared as numbers; a zone that cannot be resolved any more fails the whole decision (decision-failed)",
  },
  // Starting. No process was created: the period stays open until its deadline passes (S24).
  "command-not-found": operating("ExecutionError", "the command does not exist"),
  "command-not-executable": operating("ExecutionError", "the command may not be executed"),
  "command-too-long": operating("ExecutionError", "arguments and environment exceed the system's limit"),
  "cwd-unusable": operating("ExecutionError", "the working directory cannot be entered"),
  "user-unknown": operating("ExecutionError", "the user or group does not exist"),
  "privilege-drop-failed": operating("ExecutionError", "the process does not have the identity it was to get"),
  "output-unusable": operating("ExecutionError", "the output file cannot be opened"),
  "fork-failed": operating("ExecutionError", "no process could be created"),
  "gate-failed": operating("ExecutionError", "a gated process ended before it was released (S23)"),
  "address-forbidden": operating("ExecutionError", "a request may not go to the address that it names"),
  "quota-exceeded": operating("ExecutionError", "a tenant has used up what it may run"),
  "dns-failed": operating("ExecutionError", "the host of a request has no address"),
  "secret-unreadable": operating("ExecutionError", "a secret, certificate or file of variables cannot be read or used"),
  // Running.
  "connect-failed": operating("ExecutionError", "no connection for a request: nothing was sent"),
  "tls-failed": operating("ExecutionError", "a connection for a request could not be secured: nothing was sent"),
  "connection-lost": operating("ExecutionError", "the connection ended before the whole answer was there"),
  "worker-absent": operating(
    "ExecutionError",
    "no worker came in time for a run that workers carry out: nothing was sent",
  ),
  "worker-failed": operating("ExecutionError", "a worker said that it could not carry a run out"),
  "response-invalid": operating("ExecutionError", "what came back is no answer"),
  "response-too-large": operating("ExecutionError", "an answer is longer than the job allows"),
  "status-unexpected": operating("ExecutionError", "an answer has a status that the job does not count as success"),
  "body-unexpected": operating("ExecutionError", "an answer has a body that the job does not count as success"),
  "exec-failed": operating("ExecutionError", "the command could not replace its gate: exit 126 or 127 (S24)"),
  "exit-nonzero": operating("ExecutionError", "the command ended with a non-zero exit code or by a signal"),
  "start-unconfirmed": {
    category: "ExecutionError",
    fatal: false,
    level: "warn",
    meaning: "a claimed run cannot be shown to have begun (S23)",
  },
  "replace-not-terminated": operating("ExecutionError", "a run that was to be replaced did not end (S25)"),
  // The system underneath. Nothing is handled; tried again with growing delays.
  "pid-unverifiable": operating("SystemError", "it cannot be told whether a process is still the one that was started"),
  "descriptors-exhausted": operating("SystemError", "no file descriptor is free"),
  "memory-exhausted": operating("SystemError", "the system has no memory for another process"),
  "notify-failed": operating("SystemError", "nobody could be told of what became of a job"),
  "signal-failed": operating("SystemError", "a process cannot be signalled"),
  "launcher-died": operating("SystemError", "the launcher process ended; its gates are closed and it is started again"),
  "launcher-unavailable": operating("SystemError", "the launcher process cannot be started"),
  "worker-died": operating("SystemError", "a decision worker ended; its batch is computed again"),
  "worker-unavailable": {
    category: "SystemError",
    fatal: false,
    level: "warn",
    meaning: "the system gives no thread for decisions: they are computed by the daemon's own, more slowly",
  },
  "socket-unavailable": operating("SystemError", "a socket cannot be opened"),
  "log-unwritable": operating("SystemError", "lines of the log could not be written; the ledger has what they told"),
  "config-unreadable": configuration("a configuration file cannot be read"),
  "config-untrusted": configuration("a configuration file belongs to a stranger or may be written by one"),
  // Kubernetes: what the API server refuses, and what it takes to talk to one.
  "job-refused": operating("ExecutionError", "the API server does not accept a Job made from the template"),
  "job-quota": operating("ExecutionError", "a quota of the namespace leaves no room for another Job"),
  "job-name-taken": operating("ExecutionError", "a Job of the name that is needed belongs to somebody else"),
  "gate-bypassed": operating("ExecutionError", "a Job that was created suspended came back released"),
  "status-refused": operating("SchedulingError", "the API server does not accept the status of a KronJob"),
  "cluster-unreachable": operating("SystemError", "the API server does not answer, or not with what was asked for"),
  "cluster-forbidden": operating("SystemError", "the API server denies a right that is needed"),
  "cluster-unsuitable": fatal("IncompatibleStateError", "the cluster does not know KronJobs of this version"),
  "kubeconfig-unusable": configuration("a kubeconfig cannot be read, or asks for what Kron does not do"),
  // The Declarative Scheduler: its registrations, its expressions, its records.
  "registrations-not-array": configuration("registrations are not an array"),
  "registration-shape": configuration("a registration is not a tuple of name, expression, function and duration"),
  "registration-invalid": validation("a registration holds a value that makes no sense"),
  "task-duplicate": validation("two registrations share one task name"),
  "task-unavailable": validation("a task is asked for that no running scheduler has"),
  "retry-delay-negative": validation("a retry delay is negative"),
  "scheduler-already-active": validation("a scheduler is initialised while it is initialising or running"),
  "scheduler-initialization-failed": operating("SystemError", "what a scheduler was given does not work"),
  "cron-expression-invalid": configuration("a registration's cron expression is not POSIX"),
  "cron-expression-syntax": configuration("a POSIX cron expression cannot be read"),
  "cron-field-syntax": configuration("a field of a POSIX cron expression cannot be read"),
  "cron-no-occurrence": operating("SchedulingError", "an expression has no occurrence in the direction asked for"),
  "object-unreadable": recoverable("a key, or something else that a host keeps in the store, cannot be read"),
  "task-record-unreadable": recoverable("a persisted task record cannot be read"),
  "task-field-missing": recoverable("a persisted task record lacks a field"),
  "task-field-type": recoverable("a field of a persisted task record has the wrong type"),
  "task-field-value": recoverable("a field of a persisted task record has an impossible value"),
  "task-structure": recoverable("a persisted task record is no record"),
  "task-store-failed": recoverable("a transaction of the task store failed; it is tried again where that is safe"),
} as const satisfies Record<string, ErrorKind>;

export type ErrorCode = keyof typeof ERRORS;

export function errorKind(code: ErrorCode): ErrorKind {
  return ERRORS[code];
}

export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(ERRORS, text);
}
