/** What a schedule says, in words, where that is short; the expression stands beside it. */

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const NTHS = ["first", "second", "third", "fourth", "fifth"];
const MACROS: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

/** null: it takes more words than the expression has. */
export function scheduleText(expression: string): string | null {
  const [every, at] = [/^@every (.+)$/.exec(expression)?.[1], /^@at (.+)$/.exec(expression)?.[1]];
  if (every !== undefined) return `every ${every}`;
  if (at !== undefined) return `once, ${at.replace("T", " at ")}`;
  if (expression === "@reboot") return "at every boot";
  const [minute = "", hour = "", day = "", month = "", weekday = "", ...more] = (
    MACROS[expression] ?? expression
  ).split(/\s+/);
  if (more.length > 0 || weekday === "" || month !== "*") return null;
  const when = timeText(minute, hour);
  if (when === null) return null;
  if (day === "*" && weekday === "*") return when.isWithinDay ? when.text : `every day ${when.text}`;
  const days = day === "*" ? weekdayText(weekday) : weekday === "*" ? dayText(day) : null;
  return days === null ? null : `${days} ${when.text}`;
}

function timeText(minute: string, hour: string): { readonly text: string; readonly isWithinDay: boolean } | null {
  const step = /^\*\/(\d+)$/.exec(minute)?.[1];
  if (hour === "*" && minute === "*") return { text: "every minute", isWithinDay: true };
  if (hour === "*" && step !== undefined) return { text: `every ${step} minutes`, isWithinDay: true };
  if (!/^\d{1,2}$/.test(minute)) return null;
  if (hour === "*") return { text: `every hour at :${minute.padStart(2, "0")}`, isWithinDay: true };
  const hours = /^\*\/(\d+)$/.exec(hour)?.[1];
  if (hours !== undefined) return { text: `every ${hours} hours at :${minute.padStart(2, "0")}`, isWithinDay: true };
  if (!/^\d{1,2}$/.test(hour)) return null;
  return { text: `at ${hour.padStart(2, "0")}:${minute.padStart(2, "0")}`, isWithinDay: false };
}

function dayText(day: string): string | null {
  if (/^L$/i.test(day)) return "on the last day of the month";
  return /^\d{1,2}$/.test(day) ? `on day ${day} of the month` : null;
}

/** `MON`, `1`, `MON-FRI`, `MON,WED`, `MON#2`, `FRI#L`. */
function weekdayText(weekday: string): string | null {
  const [first = "", nth] = weekday.split("#");
  if (nth !== undefined) {
    const [name, place] = [dayName(first), /^L$/i.test(nth) ? "last" : NTHS[Number(nth) - 1]];
    return name === undefined || place === undefined ? null : `on the ${place} ${name} of the month`;
  }
  const [from, to] = weekday.split("-").map(dayName);
  if (from !== undefined && to !== undefined) return `${from} to ${to}`;
  const names = weekday.split(",").map(dayName);
  return names.includes(undefined) ? null : `every ${names.join(", ").replace(/, (?=[^,]*$)/, " and ")}`;
}

function dayName(written: string): string | undefined {
  const place = /^[0-7]$/.test(written) ? Number(written) : -1;
  return DAYS[place] ?? DAYS.find((name) => name.slice(0, 3).toUpperCase() === written.toUpperCase());
}
