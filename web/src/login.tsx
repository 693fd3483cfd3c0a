/** Nobody sees anything of the daemon before they have shown who they are. */
import { useSignal } from "@preact/signals";
import { logIn } from "./session.js";

export function Login({ refusal }: { readonly refusal: string | null }) {
  const key = useSignal("");
  const said = useSignal<string | null>(null);
  async function enter(event: Event): Promise<void> {
    event.preventDefault();
    said.value = await logIn({ key: key.value.trim() });
  }
  return (
    <main class="login">
      <h1 tabIndex={-1}>Kron</h1>
      <p>
        On the daemon's machine, <code>kron open</code> makes a link to this page that works once.
      </p>
      <form onSubmit={enter}>
        <label for="key">Or an API key</label>
        <input
          id="key"
          type="password"
          autocomplete="off"
          placeholder="kron_…"
          value={key}
          onInput={(event) => {
            key.value = event.currentTarget.value;
          }}
        />
        <button type="submit">Log in</button>
      </form>
      <p role="alert" class="refusal">
        {said.value ?? refusal}
      </p>
    </main>
  );
}
