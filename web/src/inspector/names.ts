/** Names as there is room for them. */

/** The middle goes: beginning and end are what people tell names by. */
export function brief(name: string, mostChars: number): string {
  if (name.length <= mostChars) return name;
  const end = Math.ceil((mostChars - 1) * 0.6);
  return `${name.slice(0, mostChars - 1 - end)}…${name.slice(-end)}`;
}

/** What of an actor's name its parent does not say already. */
export function ownName(sessionId: string, family: string): string {
  return sessionId !== family && sessionId.startsWith(`${family}@`) ? sessionId.slice(family.length) : sessionId;
}

/** `running › confirmed`; regions side by side with a dot between; those without states of their own are not named. */
export function stateText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null) return "";
  const regions = Object.entries(value).map(([key, inner]) => {
    const below = stateText(inner);
    return { key, below };
  });
  if (regions.length === 1) return regions.map(({ key, below }) => (below === "" ? key : `${key} › ${below}`)).join("");
  return regions
    .filter(({ below }) => below !== "")
    .map(({ below }) => below)
    .join(" · ");
}

/** Of the day, to the millisecond, in the viewer's zone. */
export function clockText(at: number): string {
  const date = new Date(at);
  const pad = (value: number, digits: number): string => String(value).padStart(digits, "0");
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => pad(part, 2)).join(":");
  return `${clock}.${pad(date.getMilliseconds(), 3)}`;
}
