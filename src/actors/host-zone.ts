/** The zone in which this host tells the time: what cron reads its tables in. UTC where there is no telling. */
export function hostTimezone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
  return timeZone === undefined || timeZone === "Etc/Unknown" ? "UTC" : timeZone;
}
