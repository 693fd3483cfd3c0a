/**
 * What a command sees of the world outside: commands get it as an argument, so that tests run them without a process.
 */
export interface CliIo {
  /** Resolves when the text is handed over; rejects never: a reader that went away ends the program quietly. */
  out(text: string): Promise<void>;
  err(text: string): Promise<void>;
  readonly isOutTerminal: boolean;
  readonly isErrTerminal: boolean;
  /** How wide the terminal is that `out` goes to; absent when it is none. */
  readonly outColumns?: number;
  /** Zone of whoever looks; absent: nobody knows, and UTC is as good as any. */
  readonly timeZone?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  now(): number;
  /** Standard input, in pieces. */
  input(): AsyncIterable<string>;
}

function writeTo(stream: NodeJS.WriteStream): (text: string) => Promise<void> {
  stream.on("error", (error: NodeJS.ErrnoException) => {
    // `kron next | head`: the reader has seen enough.
    if (error.code === "EPIPE") process.exit(0);
    throw error;
  });
  return (text) => new Promise((resolve) => stream.write(text, () => resolve()));
}

async function* readStandardInput(): AsyncIterable<string> {
  process.stdin.setEncoding("utf8");
  for await (const piece of process.stdin) yield String(piece);
}

export function systemIo(): CliIo {
  return {
    out: writeTo(process.stdout),
    err: writeTo(process.stderr),
    isOutTerminal: process.stdout.isTTY === true,
    isErrTerminal: process.stderr.isTTY === true,
    ...(process.stdout.isTTY === true ? { outColumns: process.stdout.columns } : {}),
    // Asked for late: most commands have no use for it.
    get timeZone() {
      return Intl.DateTimeFormat().resolvedOptions().timeZone;
    },
    env: process.env,
    cwd: process.cwd(),
    now: () => Date.now(),
    input: readStandardInput,
  };
}
