/**
 * Defaults of a file, and how a job takes them: `dst`, `window`, `seed`, `constraints`, `policy`, `retry`, `stop`, `output`, `env` and
 * `env_credentials` are merged key by key, everything else the job either says itself or takes whole. What the job says
 * always wins.
 */
import type { PartialRawJob, RawDefaults } from "./shape.js";

/** Checked defaults: nothing in them is wrong by itself. */
export interface JobDefaults {
  readonly raw: RawDefaults;
  /** The same without what means nothing for a request. */
  readonly forHttp: RawDefaults;
}

export function jobDefaults(raw: RawDefaults): JobDefaults {
  const { shell, user, group, cwd, env, umask, timeout, output, max_output, ...others } = raw;
  const { env_file, pass_env, env_credentials, ...forHttp } = others;
  return { raw, forHttp };
}

export function withDefaults(own: PartialRawJob, defaults: JobDefaults | undefined): PartialRawJob {
  if (defaults === undefined) return own;
  const base: PartialRawJob = own.http === undefined ? defaults.raw : defaults.forHttp;
  return {
    ...base,
    ...own,
    ...group("dst", base, own),
    ...group("window", base, own),
    ...group("seed", base, own),
    ...group("constraints", base, own),
    ...group("env", base, own),
    ...group("env_credentials", base, own),
    ...group("retry", base, own),
    ...placeGroup(base, own),
    ...group("stop", base, own),
    ...policyGroup(base, own),
    ...outputGroup(base, own),
  };
}

type GroupName = "dst" | "window" | "seed" | "constraints" | "env" | "env_credentials" | "retry" | "stop";

function group<K extends GroupName>(name: K, base: PartialRawJob, own: PartialRawJob): Pick<PartialRawJob, K> | null {
  const [below, above] = [base[name], own[name]];
  if (below === undefined || above === undefined) return null;
  return { [name]: { ...below, ...above } } as Pick<PartialRawJob, K>;
}

/** A node or a pool of the job's own takes the place of either. */
function placeGroup(base: PartialRawJob, own: PartialRawJob): Pick<PartialRawJob, "node" | "pool"> {
  const { node, pool } = own.node === undefined && own.pool === undefined ? base : own;
  return { node, pool };
}

/** A short form in the job also replaces the long form of the defaults, and the other way round. */
function policyGroup(base: PartialRawJob, own: PartialRawJob): PartialRawJob {
  const maxActive = own.max_active ?? own.policy?.max_active ?? base.max_active ?? base.policy?.max_active;
  const policy = { ...base.policy, ...own.policy };
  if (maxActive !== undefined) policy.max_active = maxActive;
  return { policy, max_active: undefined };
}

function outputGroup(base: PartialRawJob, own: PartialRawJob): PartialRawJob {
  const max = own.output?.max ?? base.max_output ?? base.output?.max;
  const output = { ...base.output, ...own.output };
  if (own.output?.file === true) delete output.to;
  if (max !== undefined) output.max = max;
  return { output, max_output: own.max_output };
}
