/** The jobs that are forecast: an even mix of rhythms, as configured jobs have them; two thirds with windows. */
const RHYTHMS = [
  ["*/5 * * * *", "2m"],
  ["*/15 * * * *", "10m"],
  ["0 * * * *", "30m"],
  ["17 * * * *", "30m"],
  ["0 0 * * *", "3h"],
  ["30 2 * * *", "2h"],
  ["0 9 * * MON-FRI", "1h"],
  ["0 0 1 * *", "6h"],
  ["0 */6 * * *", "1h"],
  ["0 0 * * 0", "4h"],
];
export const ZONES = ["UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe"];

export function* jobs(count) {
  for (let index = 0; index < count; index += 1) {
    const [schedule, duration] = RHYTHMS[index % RHYTHMS.length];
    yield {
      identity: `team-${index % 37}/job-${index}`,
      schedule,
      timezone: ZONES[index % ZONES.length],
      ...(index % 3 === 0 ? {} : { window: { mode: index % 2 === 0 ? "after" : "around", duration } }),
      command: ["/usr/bin/true", String(index)],
    };
  }
}

export function jsonLines(count) {
  return [...jobs(count)].map((job) => `${JSON.stringify(job)}\n`).join("");
}

export function yaml(count) {
  const items = [...jobs(count)].map((job) => {
    const window = job.window ? `    window: { mode: ${job.window.mode}, duration: ${job.window.duration} }\n` : "";
    return `  - identity: ${job.identity}
    schedule: "${job.schedule}"
    timezone: ${job.timezone}
${window}    command: [${job.command.map((word) => JSON.stringify(word)).join(", ")}]
`;
  });
  return `jobs:\n${items.join("")}`;
}
