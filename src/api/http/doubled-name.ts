/**
 * A name that stands twice in one object of a JSON text: whoever reads it takes the last, or the first, and nobody is told of
 * the other.
 */

interface Frame {
  /** null: a list. */
  readonly names: Set<string> | null;
  /** Where in it we are. */
  step: string | number;
  isNameNext: boolean;
}

/** The way to the second of them; null: there is none. `text` is known to be JSON. */
export function doubledName(text: string): readonly PropertyKey[] | null {
  const frames: Frame[] = [];
  for (let at = 0; at < text.length; at += 1) {
    const frame = frames.at(-1);
    switch (text[at]) {
      case "{":
        frames.push({ names: new Set(), step: "", isNameNext: true });
        break;
      case "[":
        frames.push({ names: null, step: 0, isNameNext: false });
        break;
      case "}":
      case "]":
        frames.pop();
        break;
      case ",":
        if (frame !== undefined) goOn(frame);
        break;
      case '"': {
        const end = endOfText(text, at);
        if (frame?.isNameNext === true && !isNew(frame, JSON.parse(text.slice(at, end)) as string)) {
          return frames.map(({ step }) => step);
        }
        at = end - 1;
      }
    }
  }
  return null;
}

function goOn(frame: Frame): void {
  if (typeof frame.step === "number") frame.step += 1;
  else frame.isNameNext = true;
}

function isNew(frame: Frame, name: string): boolean {
  frame.step = name;
  frame.isNameNext = false;
  if (frame.names?.has(name) === true) return false;
  frame.names?.add(name);
  return true;
}

/** Behind the quote that ends what begins with one. */
function endOfText(text: string, from: number): number {
  let at = from + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}
