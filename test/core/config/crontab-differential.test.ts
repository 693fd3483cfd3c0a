import { describe, expect, test } from "vitest";
import { type CrontabRules, readCrontab } from "../../../src/core/config/crontab/crontab.js";
import { parseKronCron } from "../../../src/core/cron/kron-dialect.js";
import { compileSchedule, type Schedule } from "../../../src/core/cron/schedule.js";
import { DAY_MS, formatInstant, HOUR_MS } from "../../../src/core/time/instant.js";
import { requireOk } from "../../support/results.js";
import { vixieLine, vixieRuns } from "../../support/vixie-cron.js";
import { zone } from "../../support/zones.js";

/** Lines as they stand in real crontabs: distributions, panels, tutorials, and what people make of them. */
const LINES: readonly string[] = [
  "17 *\t* * *\troot\tcd / && run-parts --report /etc/cron.hourly",
  "25 6\t* * *\troot\ttest -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.daily; }",
  "47 6\t* * 7\troot\ttest -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.weekly; }",
  "52 6\t1 * *\troot\ttest -x /usr/sbin/anacron || { cd / && run-parts --report /etc/cron.monthly; }",
  "01 * * * * root run-parts /etc/cron.hourly",
  "30 3 * * 0 root test -e /run/systemd/system || SERVICE_MODE=1 /usr/lib/e2fsprogs/e2scrub_all_cron",
  "10 3 * * * root test -e /run/systemd/system || SERVICE_MODE=1 /sbin/e2scrub_all -A -r",
  "0 */12 * * * root test -x /usr/bin/certbot -a \\! -d /run/systemd/system && perl -e 'sleep int(rand(43200))' && certbot -q renew",
  "5-55/10 * * * * root command -v debian-sa1 > /dev/null && debian-sa1 1 1",
  "59 23 * * * root command -v debian-sa1 > /dev/null && debian-sa1 60 2",
  "09,39 *     * * *     root   [ -x /usr/lib/php/sessionclean ] && /usr/lib/php/sessionclean",
  "57 0 * * 0 root if [ -x /usr/share/mdadm/checkarray ] && [ $(date +\\%d) -le 7 ]; then /usr/share/mdadm/checkarray --cron --all --idle --quiet; fi",
  "30 7    * * *   root\t[ -x /etc/init.d/anacron ] && if [ ! -d /run/systemd/system ]; then /usr/sbin/invoke-rc.d anacron start >/dev/null; fi",
  "*/5 * * * * www-data [ -x /usr/share/awstats/tools/update.sh ] && /usr/share/awstats/tools/update.sh",
  "10 03 * * * www-data [ -x /usr/share/awstats/tools/buildstatic.sh ] && /usr/share/awstats/tools/buildstatic.sh",
  "*/5 * * * * root if [ -x /usr/bin/munin-cron ]; then /usr/bin/munin-cron; fi",
  "@hourly logcheck if [ -x /usr/sbin/logcheck ]; then nice -n10 /usr/sbin/logcheck; fi",
  "2 * * * * logcheck if [ -x /usr/sbin/logcheck ]; then nice -n10 /usr/sbin/logcheck; fi",
  "* * * * * www-data php /var/www/html/artisan schedule:run >> /dev/null 2>&1",
  "*/5  *  *  *  * www-data php -f /var/www/nextcloud/cron.php",
  "*/15 * * * * www-data wget -q -O - https://example.org/wp-cron.php?doing_wp_cron >/dev/null 2>&1",
  "0 2 * * * postgres pg_dump -Fc app > /backup/app-$(date +\\%F).dump",
  "0 0 1 * * root /usr/bin/geoipupdate",
  "0 0 * * 0 root /usr/bin/find /tmp -mtime +7 -delete",
  "*/10 8-18 * * 1-5 app /srv/app/bin/poll",
  "0 9-17 * * MON-FRI app /srv/app/bin/remind",
  "0 9,17 * * mon,wed,fri app /srv/app/bin/report",
  "15 14 1 * * paul $HOME/bin/monthly",
  '0 22 * * 1-5 paul mail -s "It\'s 10pm" joe%Joe,%%Where are your kids?%',
  '23 0-23/2 * * * paul echo "run 23 minutes after midn, 2am, 4am ..., everyday"',
  '5 4 * * sun paul echo "run at 5 after 4 every sunday"',
  '0 */4 1 * mon paul echo "run every 4th hour on the 1st and on every Monday"',
  '0 0 */2 * sun paul echo "run at midn on every Sunday that\'s an uneven date"',
  '42 4 1 * * paul echo "run at 04:42 am every 1st of month"',
  '0 4 8-14 * * paul test $(date +\\%u) -eq 6 && echo "2nd Saturday"',
  "30 4 1,15 * 5 paul echo half past four on the 1st and 15th, and on Fridays",
  "0 0 13 * fri paul echo beware",
  "0 12 29 2 * paul echo leap",
  "0 0 31 * * paul echo only in the long months",
  "0 5 1 JAN,APR,JUL,OCT * paul echo quarter",
  "0 5 1 */3 * paul echo every third month",
  "0 5 1 1-12/6 * paul echo half a year",
  "*/7 * * * * paul echo sevens start anew each hour",
  "*/31 * * * * paul echo twice",
  "*/90 * * * * paul echo once an hour, whatever was meant",
  "10-20/90 1 * * * paul echo just ten",
  "0-59/5 * * * * paul echo five",
  "0,15,30,45 * * * * paul echo quarters",
  "1-9/2,30-40,55 * * * * paul echo a list",
  "00 08 * * * paul echo leading zeros",
  "005 008 * * * paul echo more of them",
  "0 3 * * 7 paul echo Sunday",
  "0 3 * * 5-7 paul echo long weekend",
  "0 3 * * 0,6 paul echo weekend",
  "0 3 * * 0-7 paul echo every day",
  "0 3 15 * 0-6 paul echo every day too, not only the 15th",
  "0 3 1-31 * 1 paul echo every day once more",
  "005 3 1-31 * 1 paul echo and that in other digits",
  "0 3 */1 * 1 paul echo Mondays",
  "0 3 1 * */1 paul echo firsts",
  "0 3 * * */2 paul echo Sunday, Tuesday, Thursday, Saturday",
  "0 3 * * */7 paul echo Sundays",
  "0 3 10-20 * */6 paul not said here",
  "0 3 1,*/5 * 1 paul echo no star in front, so either suffices",
  "30 2 * * * paul echo in the hour that is lost and found",
  "*/20 2 * * * paul echo follows the clock",
  "15,45 1-3 * * * paul echo fixed times, too",
  "0 3 * * * paul echo right after",
  "59 1 * * * paul echo right before",
  "@daily paul echo daily",
  "@midnight paul echo midnight",
  "@weekly paul echo weekly",
  "@monthly paul echo monthly",
  "@yearly paul echo yearly",
  "@annually paul echo annually",
];

/** To cron both day fields must match here, and neither is all days: that cannot be said in the kron dialect. */
const REFUSED: readonly string[] = ["0 0 */2 * sun", "0 3 10-20 * */6"];

/** Every 13th day of two years, one of them a leap year, and all days around the ends of months. */
function sampledDays(): number[] {
  const days: number[] = [];
  for (let at = Date.UTC(2027, 0, 1); at < Date.UTC(2029, 0, 1); at += DAY_MS) {
    const [day, tomorrow] = [new Date(at).getUTCDate(), new Date(at + DAY_MS).getUTCDate()];
    if (Math.floor(at / DAY_MS) % 13 === 0 || day <= 2 || tomorrow === 1) days.push(at);
  }
  return days;
}

const SCHEDULE = /^(?:@\S+|(?:\S+[ \t]+){4}\S+)/;

function schedules(timezone: string): ReadonlyMap<string, Schedule> {
  const rules: CrontabRules = { form: "system", timezone, owner: null };
  const { jobs } = readCrontab("/etc/crontab", `${LINES.join("\n")}\n`, rules);
  return new Map(
    jobs.map(({ definition, line }) => {
      const fields = requireOk(parseKronCron(definition.schedule));
      return [LINES[line - 1] ?? "", compileSchedule(fields, zone(definition.timezone), definition.dst)];
    }),
  );
}

const written = LINES.map((line) => ({ line, schedule: SCHEDULE.exec(line)?.[0] ?? "" }));
const taken = written.filter(({ schedule }) => !REFUSED.includes(schedule));

describe("cron lines and cron's own minutes", () => {
  test("all lines are taken over, but for those whose day rule cannot be said here (S3)", () => {
    expect([...schedules("UTC").keys()]).toEqual(taken.map(({ line }) => line));
  });

  const days = sampledDays();
  const ours = schedules("UTC");

  test.each(taken)("$schedule: the same minutes on sampled days of two years", ({ line, schedule }) => {
    const cron = vixieLine(schedule);
    const own = ours.get(line);
    for (const day of days) {
      const expected = vixieRuns(cron, day, day + DAY_MS, () => 0);
      expect([...(own?.between(day, day + DAY_MS) ?? [])], formatInstant(day)).toEqual(expected);
    }
  });
});

describe("cron lines when the clock changes: as cron's own loop has it", () => {
  const changes: readonly [zoneId: string, change: string, at: number][] = [
    ["Europe/Berlin", "forward", Date.UTC(2027, 2, 28, 1)],
    ["Europe/Berlin", "back", Date.UTC(2027, 9, 31, 1)],
    ["America/New_York", "forward", Date.UTC(2027, 2, 14, 7)],
    ["America/New_York", "back", Date.UTC(2027, 10, 7, 6)],
    ["Australia/Lord_Howe", "half an hour forward", Date.UTC(2027, 9, 2, 15, 30)],
    ["Australia/Lord_Howe", "half an hour back", Date.UTC(2027, 3, 3, 15)],
  ];

  test.each(changes)("%s, %s", (zoneId, _change, at) => {
    const ours = schedules(zoneId);
    const [from, until] = [at - 8 * HOUR_MS, at + 8 * HOUR_MS];
    const expected = taken.map(({ line, schedule }) => {
      const runs = vixieRuns(vixieLine(schedule), from, until, (instant) => zone(zoneId).offsetMsAt(instant));
      return [line, runs.map(formatInstant)];
    });
    const own = taken.map(({ line }) => [line, [...(ours.get(line)?.between(from, until) ?? [])].map(formatInstant)]);
    expect(own).toEqual(expected);
  });
});
