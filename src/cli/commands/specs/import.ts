import type { CommandSpec } from "../../command.js";

export const IMPORT: CommandSpec = {
  name: "import",
  summary: "take over jobs from cron, systemd or Kubernetes, with a verdict for every line",
  usage: "crontab|systemd|cronjob FILE... [OPTIONS]",
  details: `
Prints the jobs of crontabs as YAML, and on standard error for every line whether it means the same here, the same with a
note, or is not supported, and why. With -o json both come as one document. "-" reads standard input. Exits 2 if any line
could not be taken over; the others are printed all the same.

With "systemd" it reads timers and the services they start, from files, directories or by the names of installed units,
with their drop-ins. A job whose times or command cannot be said here is left out; other lines that have no counterpart,
such as a sandbox, are named, and the job is printed without them.

With "cronjob" it reads CronJobs of Kubernetes and prints KronJobs, with a line for everything that is not the same; with
--as krond it prints jobs of krond, of CronJobs whose only container runs a command that a host can run.

  crontab -l | kron import crontab - > jobs.yaml
  kubectl get cronjobs -o yaml | kron import cronjob - > kronjobs.yaml
  kron import systemd /etc/systemd/system backup@main.timer > timers.yaml
  kron import crontab /etc/crontab /etc/cron.d/* > system.yaml`,
  options: [
    {
      name: "user",
      help: "the files are user crontabs: no user before the command (default, unless the path tells); units of a user",
    },
    { name: "system", help: "the files are like /etc/crontab: a user before each command" },
    { name: "as", value: "kronjob|krond", help: "what CronJobs become (default: kronjob)" },
    { name: "run-as", value: "NAME", help: "of user crontabs: the user whose they are" },
    { name: "timezone", value: "ZONE", help: "zone in which cron and systemd read times (default: this host's)" },
  ],
};
