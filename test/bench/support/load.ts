/** What a measurement gives, by name. */
export type Loaded = Readonly<Record<string, unknown>>;

/** The benchmarks are plain modules without types: whoever tests one says what it is to be. */
export async function loadBench<T>(path: string): Promise<T> {
  const url = new URL(`../../../bench/${path}`, import.meta.url);
  return (await import(/* @vite-ignore */ url.href)) as T;
}
