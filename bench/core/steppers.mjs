/**
 * How each library is asked for "the next occurrence after this instant" with its parsed object reused. Every entry
 * gives a function from (expression, zone) to a function from epoch milliseconds to epoch milliseconds.
 */
export const STEPPERS = {
  kron: {
    async open() {
      const { compileSchedule, parseKronCron, zoneOf } = await import("../../dist/index.js");
      return (expression, zone) => {
        const schedule = compileSchedule(parseKronCron(expression).value, zoneOf(zone).value);
        return (at) => schedule.next(at);
      };
    },
  },
  "cron-schedule": {
    note: "reads the process zone only",
    async open() {
      const { parseCronExpression } = await import("cron-schedule");
      return (expression) => {
        const cron = parseCronExpression(expression);
        return (at) => cron.getNextDate(new Date(at)).getTime();
      };
    },
  },
  croner: {
    async open() {
      const { Cron } = await import("croner");
      return (expression, timezone) => {
        const cron = new Cron(expression, { timezone, paused: true });
        return (at) => cron.nextRun(new Date(at)).getTime();
      };
    },
  },
  "cron-parser": {
    async open() {
      const { CronExpressionParser } = await import("cron-parser");
      return (expression, tz) => {
        const cron = CronExpressionParser.parse(expression, { tz, currentDate: 0 });
        return (at) => {
          cron.reset(new Date(at));
          return cron.next().getTime();
        };
      };
    },
  },
  cronosjs: {
    async open() {
      const { CronosExpression } = await import("cronosjs");
      return (expression, timezone) => {
        const cron = CronosExpression.parse(expression, { timezone });
        return (at) => cron.nextDate(new Date(at)).getTime();
      };
    },
  },
  "node-cron": {
    note: "asked through the matcher inside its task object",
    async open() {
      const { createTask } = await import("node-cron");
      return (expression, timezone) => {
        const { timeMatcher } = createTask(expression, () => {}, { timezone });
        return (at) => timeMatcher.getNextMatch(new Date(at)).getTime();
      };
    },
  },
  cron: {
    async open() {
      const { CronTime } = await import("cron");
      return (expression, zone) => {
        const cron = new CronTime(expression, zone);
        return (at) => cron.getNextDateFrom(new Date(at), zone).toMillis();
      };
    },
  },
};
