/** Version of the time zone database this process computes with (S5), such as `2025c`; it goes into every decision record. */
export function zoneDataVersion(): string {
  return process.versions["tz"] ?? "unknown";
}
