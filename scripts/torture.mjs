/**
 * The long forms of the reliability programme: `npm run torture -- NAME [OPTIONS]`. The short ones are part of the tests.
 */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const root = fileURLToPath(new URL("..", import.meta.url));

const USAGE = `npm run torture -- NAME

  kill     [--kills 100000] [--seed N]          R1: SIGKILL of daemons, launchers and jobs at random instants
  endpoints [--kills 1000] [--seed N]           R14: SIGKILL between change, claim, request and answer of endpoints
  holders  [--rounds 1000]                      R9: daemons that start at once on one state directory
  mutants  [--only TEXT]                        R6: every mutant of the protocol has to be noticed by a test
  nodes    [--claims 100000] [--jobs 320] [--seed N]  K3: three daemons on one PostgreSQL: killed, stopped beyond their leases, cut
           off in mid-commit, drained, evicted, the server slow, full or without power, wall clocks 5 s off to either side
  operator [--seconds 3600] [--seed N]          two Kubernetes operators that are killed and frozen, over a pretended
           [--kubeconfig PATH [--api-restart COMMAND]   API server or a real cluster (its CRD applied, no nodes needed),
            [--operator-kubeconfig PATH]]               operators with rights of their own if these are given
  workers  [--claims 100000] [--workers 2]      two workers on one store: no run is given away twice, none is left
  soak     [--hours 1] [--jobs 10000]           R17: memory, descriptors, files and lateness over time
`;

function node(...args) {
  return spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status ?? 1;
}

/** One file of tests, with more of what it does. */
function test(file, env) {
  const vitest = join(root, "node_modules/vitest/vitest.mjs");
  const more = { ...process.env, KRON_TEST_LONG: "1", ...env };
  return spawnSync(process.execPath, [vitest, "run", file], { cwd: root, stdio: "inherit", env: more }).status ?? 1;
}

function option(args, name, fallback) {
  const { values } = parseArgs({ args, options: { [name]: { type: "string" } }, strict: false });
  return values[name] ?? fallback;
}

function kills(file, args, most) {
  const seed = option(args, "seed", "");
  return test(file, {
    KRON_TORTURE_KILLS: option(args, "kills", most),
    ...(seed === "" ? {} : { KRON_TORTURE_SEED: seed }),
  });
}

const TORTURES = {
  kill: (args) => kills("test/torture/kill.test.ts", args, "100000"),
  endpoints: (args) => kills("test/torture/endpoints.test.ts", args, "1000"),
  nodes: (args) => {
    const seed = option(args, "seed", "");
    return test("test/torture/nodes.test.ts", {
      KRON_TORTURE_CLAIMS: option(args, "claims", "100000"),
      KRON_TORTURE_JOBS: option(args, "jobs", "320"),
      ...(seed === "" ? {} : { KRON_TORTURE_SEED: seed }),
    });
  },
  workers: (args) =>
    test("test/torture/workers.test.ts", {
      KRON_TORTURE_CLAIMS: option(args, "claims", "100000"),
      KRON_TORTURE_WORKERS: option(args, "workers", "2"),
    }),
  operator: (args) => {
    const seed = option(args, "seed", "");
    const kubeconfig = option(args, "kubeconfig", "");
    const restart = option(args, "api-restart", "");
    const own = option(args, "operator-kubeconfig", "");
    return test("test/operator/campaign-processes.test.ts", {
      KRON_TEST_CAMPAIGN_SECONDS: option(args, "seconds", "3600"),
      ...(seed === "" ? {} : { KRON_TEST_SEED: seed }),
      ...(kubeconfig === "" ? {} : { KRON_TEST_KUBECONFIG: kubeconfig }),
      ...(restart === "" ? {} : { KRON_TEST_API_RESTART: restart }),
      ...(own === "" ? {} : { KRON_TEST_OPERATOR_KUBECONFIG: own }),
    });
  },
  holders: (args) => test("test/faults/holders.test.ts", { KRON_TORTURE_ROUNDS: option(args, "rounds", "1000") }),
  mutants: (args) => node("test/torture/mutants.mjs", ...args),
  soak: (args) => node("test/torture/soak.mjs", ...args),
};

const [name = "", ...args] = process.argv.slice(2);
const torture = Object.hasOwn(TORTURES, name) ? TORTURES[name] : null;
if (torture === null) process.stderr.write(USAGE);
process.exitCode = torture === null ? 1 : torture(args);
