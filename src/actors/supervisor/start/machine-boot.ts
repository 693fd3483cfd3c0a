/**
 * Which boot of the machine this is, for jobs that run once for each (S44). The first start of a daemon in a boot counts for
 * every job that it is given; a definition that comes later, by a reload or a later start, waits for the next boot. A start
 * that did not come to its end does not count: the next one is the first then.
 */
import { isReboot } from "../../../core/cron/reboot.js";
import type { JobDefinition } from "../../../core/job/definition.js";
import type { SupervisorPorts } from "../port.js";
import type { JobEntry } from "../rows/job-entry.js";
import type { SupervisorCore } from "../run/core.js";

/** A note of the store: the boot in which a start was brought to its end. */
const NOTE = "machine.boot";

export class MachineBoot {
  readonly #ports: Pick<SupervisorPorts, "bootId" | "store" | "term">;
  readonly #core: SupervisorCore;
  readonly #isFirstStart: boolean;

  constructor(ports: Pick<SupervisorPorts, "bootId" | "store" | "term">, core: SupervisorCore, isFirstStart: boolean) {
    this.#ports = ports;
    this.#core = core;
    this.#isFirstStart = isFirstStart;
  }

  static async ofStart(ports: SupervisorPorts, core: SupervisorCore): Promise<MachineBoot> {
    return new MachineBoot(ports, core, (await ports.store.meta(NOTE)) !== ports.bootId);
  }

  /** After the start nothing is the first any more. */
  static ofReload(ports: SupervisorPorts, core: SupervisorCore): MachineBoot {
    return new MachineBoot(ports, core, false);
  }

  /** To a job that was told its definition. What it has heard before changes nothing. */
  async tell(entry: JobEntry, { schedule }: JobDefinition): Promise<void> {
    if (!isReboot(schedule) || this.#core.isStopped) return;
    const event = { type: "BOOT", bootId: this.#ports.bootId, isPast: !this.#isFirstStart } as const;
    await this.#core.ask(entry, { event: () => event, now: null });
  }

  /** Every job has been told. */
  async settle(): Promise<void> {
    const { store, term, bootId } = this.#ports;
    if (!this.#isFirstStart || this.#core.isStopped) return;
    try {
      await store.commit(term, { meta: [{ key: NOTE, text: bootId }] });
    } catch (error) {
      this.#core.fail(error, "commit");
    }
  }
}
