/** Who brings messages to people, wired to the real ports; and how its doings are told in the log. */
import { hostname, userInfo } from "node:os";
import { join } from "node:path";
import type { Clock } from "../../actors/clock.js";
import type { MessengerSettings, Names } from "../../actors/messenger/delivery.js";
import { Messenger, type MessengerEvent, type MessengerPorts } from "../../actors/messenger/messenger.js";
import { Notices } from "../../actors/messenger/notices.js";
import { outputDirectoryOf, outputNameOf } from "../../actors/supervisor/run/arm-request.js";
import type { JobDefinition } from "../../core/job/definition.js";
import { storedDefinition } from "../../core/job/stored.js";
import type { Message } from "../../core/notify/notice.js";
import type { Happening } from "../../core/notify/trouble.js";
import { withEndpointNames } from "../../operations/endpoints/names.js";
import type { Note, StateReader } from "../../persist/store.js";
import { type DaemonEvent, type DaemonLog, errorEvent } from "../log/log.js";
import type { Monitoring } from "../monitor/monitoring.js";

interface Telling {
  readonly notices: Notices;
  readonly messenger: Messenger;
}

type Wired = Pick<
  MessengerPorts,
  "store" | "term" | "runner" | "outputDirectory" | "baseEnv" | "newId" | "mayStart" | "onFatal"
> & {
  readonly clock: Clock;
  readonly log: DaemonLog;
  readonly monitoring: Pick<Monitoring, "notified" | "watchNotices">;
  /** What is on record comes with its jobs. */
  readonly isShared: boolean;
};

/** With what an earlier daemon has left on record; nothing is brought to anybody before it is opened. */
export async function tellingOf(wired: Wired, settings: MessengerSettings): Promise<Telling> {
  const { clock, isShared, log, monitoring, store, outputDirectory } = wired;
  const left = async (): Promise<readonly Note[]> => (isShared ? [] : store.notes());
  const notices: Notices = new Notices({
    now: () => clock.now(),
    outputPathOf: (definition, happening) => outputPath(outputDirectory, definition, happening),
    onPosted: (posted) => messenger.take(posted),
  });
  const messenger: Messenger = new Messenger(
    {
      ...wired,
      notices,
      left,
      namesOf: async (messages) => namesIn(store, messages),
      host: hostname(),
      user: accountName(),
      definitionOf: async (identity) => {
        const version = await store.newestVersion(identity);
        return version?.text == null || !version.isIntact ? null : storedDefinition(version.text);
      },
      onEvent: (event) => {
        log.daemon(lineOf(event));
        monitoring.notified(event.kind);
      },
    },
    settings,
  );
  monitoring.watchNotices(messenger);
  notices.load(await left());
  return { notices, messenger };
}

/** Those of endpoints that there are. */
async function namesIn(reader: StateReader, messages: readonly Message[]): Promise<ReadonlyMap<string, Names>> {
  const identities = [...new Set(messages.map(({ identity }) => identity))];
  const rows = await withEndpointNames(
    reader,
    identities.map((identity) => ({ identity })),
  );
  return new Map(
    rows.flatMap(({ identity, endpoint }) => {
      if (endpoint === undefined) return [];
      const { tenant, job, name } = endpoint;
      return [[identity, { tenant, job, endpoint: name }] as const];
    }),
  );
}

function outputPath(root: string, { identity, target }: JobDefinition, happening: Happening): string | null {
  const { attemptId, periodId, source } = happening;
  if (target.kind !== "process" || attemptId === null) return null;
  // What goes to the log as well is in a file first.
  if (target.output.to !== "file" && target.output.to !== "log") return null;
  return join(outputDirectoryOf(root, identity), outputNameOf({ attemptId, periodId, source }));
}

/** An id that has no name in this container is its own name. */
function accountName(): string {
  try {
    return userInfo().username;
  } catch {
    return String(process.getuid?.() ?? "");
  }
}

function lineOf(event: MessengerEvent): DaemonEvent {
  const { at, identity, to, tries, deliveryId } = event;
  const fields = { identity, of: event.event, to, delivery_id: deliveryId, tries };
  const about = { at, component: "notifier" } as const;
  switch (event.kind) {
    case "failed":
      return { ...about, event: "notify_failed", level: "warn", fields: { ...fields, message: event.message } };
    case "given_up": {
      const line = errorEvent(event.error, { component: "notifier", operation: "notify", identity }, at);
      return { ...line, fields: { ...line.fields, ...fields } };
    }
    default:
      return { ...about, event: event.kind === "grouped" ? "notices_grouped" : "notified", level: "info", fields };
  }
}
