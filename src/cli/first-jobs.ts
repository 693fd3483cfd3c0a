/** The file that `kron init` writes: as short as it can be while everything a first job needs is said beside it. */
export function firstJobs(timezone: string): string {
  return `# Jobs of krond. A file like this one is checked by: kron lint jobs.yaml

# What holds for every job below that does not say otherwise.
defaults:
  # The zone in which schedules are read. Over a clock change Kron runs what matches on the wall clock.
  timezone: ${timezone}
  policy:
    # How late a run may still start. window: as long as its window is open, and a minute at least. Without a
    # deadline (0s) a restart or a standstill over the chosen second costs the job that run.
    deadline: window
  # Who is told. Take the signs away to get a mail (by sendmail) when a job fails, is missed, and is sound again:
  # notify:
  #   - { on: [failure, missed, recovered], mail: you@example.org }

jobs:
  - identity: demo/hello
    description: Says hello, so that there is something to see.
    # minute hour day-of-month month day-of-week; in quotes, because * means something else in YAML.
    schedule: "*/5 * * * *"
    # Not on the dot: at some second of the two minutes after it. Always the same one for the same job and time, so that
    # it is known beforehand (kron next) and can be checked afterwards (kron explain).
    window: { mode: after, duration: 2m }
    # A program and its arguments. For a line of shell: shell: true, and command: "a | b".
    command: [echo, "Hello from Kron."]
`;
}
