/** Every bound of the launcher, by name. */
export const LAUNCHER_LIMITS = {
  /** One message between daemon and launcher: a command of 1 MB, each character written as \\u00xx at worst. */
  frameBytes: 16 * 1024 * 1024,
  /** The shell of a gate reads its environment byte by byte: 0.4 ms a kilobyte. */
  envBytes: 128 * 1024,
  /** Arms that one launcher is given at a time; the others wait in the daemon, where an abort finds them. */
  armsInFlight: 64,
  /** Arms waiting in the daemon. Beyond: refused, to be tried again (S24). */
  armsQueued: 100_000,
  /** Descriptors that a launcher keeps for itself; every gate takes one. */
  reservedDescriptors: 64,
  /** From spawn to READY: a working directory on a dead network mount must not hold a period for ever. */
  armMs: 30_000,
  /** From GO to the command's first instruction: what a start takes of a core. */
  startMs: 0.5,
  /** However many are released: what is heard of them is not put off for longer. */
  lullMs: 1_000,
  /** Of what was put off, so much is heard before everything else has its turn. */
  resumedPerTurn: 32,
  /** A turn in which the daemon says so much to one launcher is one of several: what it says goes out when it is done... */
  framesOfMany: 4,
  /** ...or after so long. */
  heldFramesMs: 100,
  /** Helper programs: `id`, `getent`, `fallocate`. */
  helperMs: 10_000,
  helperOutputBytes: 64 * 1024,
  /** How long what is known about an account is believed. */
  accountMs: 30_000,
  accountsKept: 1_000,
  /** A launcher that is silent for this long while something is asked of it gets a ping... */
  silenceMs: 10_000,
  /** ...and is killed when this many more such spans pass without a word. */
  silencesBeforeKill: 2,
  /** Between a launcher's death and the next start: the first at once, then doubling. */
  restartFirstMs: 100,
  restartLongestMs: 5_000,
  /** A launcher that lived this long is forgiven its earlier deaths. */
  restartForgivenMs: 10_000,
  /** Starting a launcher, up to its first message. */
  helloMs: 30_000,
  /** After a launcher's death: how long a released gate gets to become its command, or to end. */
  releasedGateMs: 5_000,
  /** The same for a gate that an earlier daemon left behind: its launcher has ended, or is stopped. */
  adoptedGateMs: 1_000,
  /** A launcher whose daemon is gone finishes with the output of ended runs, and leaves. */
  leaveMs: 2_000,
  /** From the end of the line until a launcher must have left. */
  closeMs: 5_000,
  /** How often processes that are not our children are looked at (S29). */
  adoptedPollMs: 500,
  launchers: 4,
  /** From KILL until a tree must be gone (S28). */
  killMs: 5_000,
  /** How often an output file is looked at: the faster it grows, the more often. */
  outputCheckFirstMs: 20,
  outputCheckLongestMs: 500,
  /** An output file may grow to this multiple of its cap before its middle is dropped. */
  outputSlack: 1.25,
  /** Kept of the end, where a file system cannot punch holes: it is read and written at one go. */
  outputRewrittenTailBytes: 1024 * 1024,
  outputCopyBytes: 1024 * 1024,
} as const;
