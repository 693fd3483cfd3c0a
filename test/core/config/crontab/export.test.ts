import { describe, expect, test } from "vitest";
import { parse } from "yaml";
import { readCrontab } from "../../../../src/core/config/crontab/crontab.js";
import { crontabYaml, exportedJobs } from "../../../../src/core/config/crontab/export.js";
import { jobNameOf } from "../../../../src/core/config/crontab/names.js";
import { readYamlConfig } from "../../../../src/core/config/yaml/reader.js";

function exported(text: string, file = "/etc/cron.d/app"): string {
  return crontabYaml(exportedJobs([readCrontab(file, text, { form: "system", timezone: "UTC", owner: null })]));
}

const TWO = `MAILTO=ops
CRON_TZ=Europe/Berlin
# Every night.
0 3 * * * root /usr/bin/pg_dump -f /backup/$(date +\\%F)
*/5 * * * * www-data cat%one%two
`;

describe("crontabs as YAML", () => {
  test("says shared things once, and above each job where it comes from", () => {
    expect(exported(TWO)).toBe(`defaults:
  timezone: Europe/Berlin
  policy:
    deadline: window
  env:
    MAILTO: ops
    PATH: /usr/bin:/bin
    SHELL: /bin/sh
    TZ: UTC
jobs:
  # Every night.
  # /etc/cron.d/app:4: 0 3 * * * root /usr/bin/pg_dump -f /backup/$(date +\\%F)
  - identity: app/pg_dump
    schedule: 0 3 * * *
    dst:
      gap: next
      overlap: first
    command: /usr/bin/pg_dump -f /backup/$(date +%F)
    shell: true
    user: root
    notify:
      - on:
          - output
        mail:
          - ops

  # /etc/cron.d/app:5: */5 * * * * www-data cat%one%two
  - identity: app/cat
    schedule: "*/5 * * * *"
    command: cat
    shell: true
    user: www-data
    stdin: |
      one
      two
    notify:
      - on:
          - output
        mail:
          - ops
`);
  });

  test("reads back as the same jobs", () => {
    const jobs = exportedJobs([readCrontab("x", TWO, { form: "system", timezone: "UTC", owner: null })]);
    const { jobs: back, problems } = readYamlConfig("x.yaml", crontabYaml(jobs));
    expect(problems).toEqual([]);
    expect(back.map(({ definition }) => definition)).toEqual(jobs.map(({ definition }) => definition));
  });

  test("a single job keeps everything for itself", () => {
    expect(Object.keys(parse(exported("@daily root a\n")))).toEqual(["jobs"]);
  });

  test("jobs of several crontabs get names of their own", () => {
    const rules = { form: "user", timezone: "UTC", owner: null } as const;
    const readings = ["@daily a\n@hourly a\n", "@daily a\n@daily a-2\n"].map((text) => readCrontab("x", text, rules));
    const names = exportedJobs(readings).map(({ definition }) => definition.identity);
    expect(names).toEqual(["x/a", "x/a-2", "x/a-3", "x/a-2-2"]);
  });

  test("nothing in a comment begins another line, or speaks to the terminal", () => {
    const yaml = exported("# a\u2028- identity: x\n#\u001b[31mred\n@daily root a\u0085b\n");
    expect(readYamlConfig("x.yaml", yaml).jobs).toHaveLength(1);
    const comments = yaml.split("\n").filter((line) => line.trimStart().startsWith("#"));
    expect(comments.join("")).not.toMatch(/\p{C}|\u2028/u);
  });
});

describe("names of imported jobs", () => {
  test.each([
    ["/etc/crontab", "cd / && run-parts --report /etc/cron.hourly", "crontab/run-parts"],
    ["/etc/crontab", "test -x /usr/sbin/anacron || { cd / && run-parts /etc/cron.daily; }", "crontab/anacron"],
    ["/etc/cron.d/php", "[ -x /usr/lib/php/sessionclean ] && /usr/lib/php/sessionclean", "php/sessionclean"],
    ["/var/spool/cron/crontabs/alice", "/home/alice/bin/backup.sh > /dev/null 2>&1", "alice/backup"],
    ["x", "php -f /var/www/nextcloud/cron.php", "x/cron"],
    ["x", "python3 -m http.server", "x/http.server"],
    ["x", "A=1 B=2 nice -n 10 sudo -u bob flock -n /tmp/l rsync -a a b", "x/rsync"],
    ["x", "bash -c 'exit'", "x/exit"],
    ["x", "$HOME/bin/x", "x/job"],
    ["x", "", "x/job"],
    ["x", "ls", "x/ls"],
    ["x", "перевод", "x/job"],
    ["-", "ls", "crontab/ls"],
  ])("%s: %s: %s", (file, command, name) => {
    expect(jobNameOf(file, command)).toBe(name);
  });
});
