import { daysOfDate } from "../../decision/constraint/date.js";
import type { IcsLine, Refuse } from "./ics-lines.js";

/** A whole day, as days since 1970-01-01; null when it is something else, which is refused. */
export function readIcsDate({ number, name, value }: IcsLine, refuse: Refuse): number | null {
  const [, year, month, day, time] = /^(\d{4})(\d\d)(\d\d)(T\d{6}Z?)?$/.exec(value) ?? [];
  if (year === undefined) {
    refuse(number, `the value of ${name} is no day`, `write it like ${name};VALUE=DATE:20261225`);
    return null;
  }
  if (time !== undefined) {
    const hint = `events of whole days are read: write ${name};VALUE=DATE:${year}${month}${day}, or take the event out`;
    refuse(number, `${name} has a time of day`, hint);
    return null;
  }
  const days = daysOfDate(Number(year), Number(month), Number(day));
  if (days === null) refuse(number, `there is no day ${year}-${month}-${day}`, "write a day that there is");
  return days;
}
