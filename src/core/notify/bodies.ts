/** A message in the forms that others read: a mail, as cron would write it, and alerts as Alertmanager takes them. */
import type { Message } from "./notice.js";

const WORDS: Readonly<Record<Message["event"], string>> = {
  failure: "failed",
  missed: "was missed",
  recovered: "recovered",
  late: "is late",
  start: "started",
  success: "succeeded",
  output: "printed",
  group: "messages",
};

/** Of a group those that it spells out. */
export function eventsOf(message: Message): readonly Message[] {
  return message.event === "group" ? (message["events"] as readonly Message[]) : [message];
}

/** One line: what became of which job. `labelOf`: what people call it. */
export function headline(message: Message, labelOf: (identity: string) => string = (identity) => identity): string {
  if (message.event === "group") return `${String(message["count"])} ${WORDS.group}`;
  const { identity, event, result } = message;
  const detail = result === undefined || event === "recovered" ? "" : ` (${result})`;
  return `${labelOf(identity)} ${WORDS[event]}${detail}`;
}

interface MailPlace {
  readonly host: string;
  readonly user: string;
  readonly from: string | null;
}

/**
 * For `sendmail -i -t`. `output`: what the run has printed, or the beginning of it. Nothing that anybody wrote can begin a
 * header of its own: controls become blanks.
 */
export function mailText(
  message: Message,
  to: readonly string[],
  { host, user, from }: MailPlace,
  output: string,
): string {
  const subject =
    message.event === "output" ? `Cron <${user}@${host}> ${message.identity}` : `Kron <${host}> ${headline(message)}`;
  const headers = [
    `From: ${from ?? `"(Kron)" <${user}>`}`,
    `To: ${to.join(", ")}`,
    `Subject: ${headerText(subject)}`,
    "MIME-Version: 1.0",
    "Content-Type: text/plain; charset=UTF-8",
    "Content-Transfer-Encoding: 8bit",
    "Auto-Submitted: auto-generated",
    `X-Kron-Delivery: ${message.id}`,
  ];
  const body =
    message.event === "output" ? output : [...eventsOf(message).map(paragraph), leftOut(message), output].join("\n");
  return `${headers.join("\n")}\n\n${body.endsWith("\n") ? body : `${body}\n`}`;
}

/** RFC 2047 where it is not plain ASCII; never a line break. */
function headerText(text: string): string {
  const line = text.replace(/\p{Cc}+/gu, " ");
  return /^[\x20-\x7e]*$/.test(line) ? line : `=?UTF-8?B?${Buffer.from(line).toString("base64")}?=`;
}

function leftOut(message: Message): string {
  const count = Number(message["left_out"] ?? 0);
  return count === 0 ? "" : `and ${count} more\n`;
}

function paragraph(message: Message): string {
  const { id, event, identity, description, tags, ...rest } = message;
  const lines = Object.entries(rest).flatMap(([name, value]) =>
    typeof value === "object" ? [] : [`  ${name.padEnd(14)}${String(value)}`],
  );
  const said = description === undefined ? [] : [`  ${description}`];
  return `${[headline(message), ...said, ...lines].join("\n")}\n`;
}

/** `POST /api/v2/alerts`: an alert begins with a trouble, and ends with its end. */
export function alertsOf(message: Message, host: string): readonly unknown[] {
  return eventsOf(message).map((event) => {
    const isOver = event.event === "recovered" || event.event === "success";
    return {
      labels: { alertname: "KronJob", identity: event.identity, host, severity: "warning" },
      annotations: {
        summary: headline(event),
        ...(event.description === undefined ? {} : { description: event.description }),
      },
      startsAt: event.since ?? event.at,
      ...(isOver ? { endsAt: event.at } : {}),
    };
  });
}
