/**
 * What becomes of each setting of a timer and its service, where nothing depends on its value: the reader of timers does
 * the others. A setting that is nowhere named here has no counterpart.
 */
export type UnitVerdict = "same" | "noted" | "unsupported";

export interface Judgement {
  readonly verdict: UnitVerdict;
  readonly note: string;
}

const SAME: Judgement = { verdict: "same", note: "" };

function noted(note: string): Judgement {
  return { verdict: "noted", note };
}

function unsupported(note: string): Judgement {
  return { verdict: "unsupported", note };
}

const NO_EFFECT = noted("without effect here");
const NOT_WAITED = noted("no other units are waited for");
const NOT_STARTED = unsupported("no other units are started or stopped with it");
const NOT_CHECKED = unsupported("is not checked, the job runs all the same: let the command test it");
const NO_SANDBOX = unsupported("there is no sandbox: let the command be systemd-run with this property");
const NO_RESOURCES = unsupported("resources are not limited: let the command be systemd-run with this property");
const NO_DIRECTORY = unsupported("no directories are made: let the command make them");
const NO_CREDENTIALS = unsupported(
  "no file is put into $CREDENTIALS_DIRECTORY: give it to the unit of krond, and env_credentials makes a variable of it",
);
const NOT_TOLD = unsupported("no other unit is started after it");

/** By section and key. */
const SETTINGS: Readonly<Record<string, Judgement>> = {
  "Unit.Description": SAME,
  "Unit.Documentation": SAME,
  "Unit.SourcePath": SAME,
  "Unit.After": NOT_WAITED,
  "Unit.Before": NOT_WAITED,
  "Unit.Wants": NOT_STARTED,
  "Unit.Requires": NOT_STARTED,
  "Unit.Requisite": NOT_STARTED,
  "Unit.BindsTo": NOT_STARTED,
  "Unit.PartOf": NOT_STARTED,
  "Unit.Conflicts": noted("no other units are stopped for it"),
  "Unit.RequiresMountsFor": NOT_STARTED,
  "Unit.OnFailure": NOT_TOLD,
  "Unit.OnSuccess": NOT_TOLD,
  "Unit.DefaultDependencies": NO_EFFECT,
  "Unit.RefuseManualStart": NO_EFFECT,
  "Unit.RefuseManualStop": NO_EFFECT,
  "Unit.CollectMode": NO_EFFECT,
  "Timer.AccuracySec": noted("not needed: each run starts in its chosen second"),
  "Timer.RemainAfterElapse": NO_EFFECT,
  "Service.KillMode": noted("a run is ended with all its processes"),
  "Service.KillSignal": unsupported("a run is asked to end with TERM"),
  "Service.TimeoutStopSec": noted("kill_grace is one setting for all jobs"),
  "Service.SendSIGKILL": NO_EFFECT,
  "Service.RemainAfterExit": NO_EFFECT,
  "Service.GuessMainPID": NO_EFFECT,
  "Service.SyslogIdentifier": NO_EFFECT,
  "Service.SyslogLevel": NO_EFFECT,
  "Service.SyslogFacility": NO_EFFECT,
  "Service.LogRateLimitIntervalSec": NO_EFFECT,
  "Service.StandardError": NO_EFFECT,
  "Service.OOMPolicy": NO_EFFECT,
  "Service.Nice": unsupported("the priority stays as it is: put nice -n before the command"),
  "Service.SuccessExitStatus": unsupported("every exit code but 0 is a failure"),
  "Service.SupplementaryGroups": unsupported("the groups are those of the account"),
  "Service.PassEnvironment": noted("becomes pass_env: the variables are those of krond, where it has them"),
  "Service.UnsetEnvironment": NO_EFFECT,
  "Service.ExecReload": NO_EFFECT,
};

/** By section and the beginning of the key. First match wins. */
const FAMILIES: readonly { readonly shape: RegExp; readonly judgement: Judgement }[] = [
  { shape: /^Install\./, judgement: SAME },
  { shape: /^\w+\.X-/, judgement: SAME },
  { shape: /^Unit\.(Condition|Assert)/, judgement: NOT_CHECKED },
  {
    shape: /^Service\.Exec(Condition|Stop|StopPost)$/,
    judgement: unsupported("only what comes before and after ExecStart is run"),
  },
  {
    shape: /^Service\.(IOScheduling|CPUScheduling)/,
    judgement: unsupported("the priority stays as it is: put ionice or chrt before the command"),
  },
  {
    shape: /^Service\.Limit/,
    judgement: unsupported("limits are those of krond: put ulimit or prlimit before the command"),
  },
  { shape: /^Service\.(Load|Set|Import)Credential/, judgement: NO_CREDENTIALS },
  { shape: /^Service\.(Runtime|State|Cache|Logs|Configuration)Directory/, judgement: NO_DIRECTORY },
  {
    shape: /^Service\.(Memory(?!Deny)|CPU|IO|BlockIO|Tasks|Slice|Delegate|OOMScore|Allowed|IPAccounting)/,
    judgement: NO_RESOURCES,
  },
  {
    shape:
      /^Service\.(Private|Protect|Restrict|Lock|NoNewPrivileges|MemoryDeny|SystemCall|Capability|Ambient|ReadOnly|ReadWrite|Inaccessible|Bind|TemporaryFileSystem|RemoveIPC|Keyring|SecureBits|Device|IPAddress|Socket|NetworkNamespace|Mount|Proc|Exec(Paths|Search)|NoExec|UtmpIdentifier|AppArmor|SELinux|Smack|Personality)/,
    judgement: NO_SANDBOX,
  },
];

/** null: it has no counterpart that is known of. */
export function judgementOf(section: string, key: string): Judgement | null {
  const name = `${section}.${key}`;
  if (Object.hasOwn(SETTINGS, name)) return SETTINGS[name] ?? null;
  return FAMILIES.find(({ shape }) => shape.test(name))?.judgement ?? null;
}
