/** Where the words of a run go. */

/** Whose output it is. */
export interface OutputLabel {
  readonly identity: string;
  readonly periodId: string;
}

export type OutputPlan =
  | {
      readonly to: "file";
      /** Created with mode 0700 where it is missing. */
      readonly directory: string;
      /** New for every attempt; names must sort in the order of the runs, because rotation keeps the greatest. */
      readonly name: string;
      readonly maxBytes: number;
      /** Files left in the directory, running ones included. */
      readonly keep: number;
      readonly onExcess: "drop-middle" | "kill";
      /** For `kill`: from TERM to KILL. */
      readonly killGraceMs: number;
      /** Its lines are for the daemon's log too, under this name. */
      readonly told?: OutputLabel;
    }
  /** The daemon's own standard output and error. */
  | { readonly to: "inherit" }
  | { readonly to: "discard" }
  | { readonly to: "syslog"; readonly tag: string };

/** Where the words of a run went. */
export interface RunOutput {
  readonly path: string;
  readonly plan: OutputPlan;
}
