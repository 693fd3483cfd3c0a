/** Who lists nominal times: each opens a set of jobs once, and then counts the times in `[fromAt, toAt)`. */
export const LISTERS = [
  {
    name: "kron",
    async open(set) {
      const { compileRule, readJobDefinition } = await import("../../dist/index.js");
      const rules = set.map((job) => compileRule(readJobDefinition(job).value));
      return (fromAt, toAt) => {
        let count = 0;
        for (const { schedule } of rules) for (const _ of schedule.between(fromAt, toAt)) count += 1;
        return count;
      };
    },
  },
  {
    name: "cron-schedule",
    async open(set) {
      const { parseCronExpression } = await import("cron-schedule");
      // It knows no zones but that of the process.
      process.env.TZ = "UTC";
      const parsed = set.map(({ schedule }) => parseCronExpression(schedule));
      return stepping(parsed, (cron, after) => cron.getNextDate(new Date(after)).getTime());
    },
  },
  {
    name: "croner",
    async open(set) {
      const { Cron } = await import("croner");
      const parsed = set.map(({ schedule }) => new Cron(schedule, { timezone: "UTC", paused: true }));
      return stepping(parsed, (cron, after) => cron.nextRun(new Date(after)).getTime());
    },
  },
  {
    name: "cron-parser",
    async open(set) {
      const { CronExpressionParser } = await import("cron-parser");
      return (fromAt, toAt) => {
        let count = 0;
        for (const { schedule } of set) {
          const times = CronExpressionParser.parse(schedule, { currentDate: new Date(fromAt - 1), tz: "UTC" });
          while (times.next().getTime() < toAt) count += 1;
        }
        return count;
      };
    },
  },
];

function stepping(parsed, next) {
  return (fromAt, toAt) => {
    let count = 0;
    for (const cron of parsed) {
      for (let at = next(cron, fromAt - 1); at < toAt; at = next(cron, at)) count += 1;
    }
    return count;
  };
}
