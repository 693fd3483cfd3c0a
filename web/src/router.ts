/** Where we are: one signal, the browser's own history, and clicks on links of ours. */
import { computed, signal } from "@preact/signals";

const place = signal(new URL(location.href));
export const path = computed(() => place.value.pathname);
export const query = computed(() => place.value.searchParams);

function arrive(): void {
  place.value = new URL(location.href);
}

/** `isSamePage`: the address tells what is shown, and nobody goes back to each letter that was typed. */
export function go(to: string, isSamePage = false): void {
  history[isSamePage ? "replaceState" : "pushState"](null, "", to);
  arrive();
}

/** The address of one job. */
export function jobAddress(identity: string): string {
  return `/jobs/${encodeURIComponent(identity)}`;
}

/** Where an endpoint is shown by its tenant's own words. */
export function endpointAddress({ tenant, id }: { readonly tenant: string; readonly id: string }): string {
  return `/endpoints?${new URLSearchParams({ tenant, endpoint: id }).toString()}`;
}

function follow(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  const isPlain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey && !event.altKey;
  if (event.defaultPrevented || link === null || !isPlain || link.target !== "") return;
  if (link.origin !== location.origin || link.hasAttribute("download")) return;
  event.preventDefault();
  if (link.href === location.href) return;
  go(link.href);
  scrollTo(0, 0);
  // Whoever cannot see it is told where they are now.
  requestAnimationFrame(() => document.querySelector<HTMLElement>("h1")?.focus());
}

addEventListener("popstate", arrive);
addEventListener("click", follow);
