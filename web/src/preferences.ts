/** What somebody has chosen for this browser. */
import { VIEWER_ZONE, zone } from "./time.js";

const KEPT_ZONE = "kron-zone";

/** In which zone times are told: the reader's own, or UTC. */
export function tellIn(name: string): void {
  localStorage.setItem(KEPT_ZONE, name);
  zone.value = name;
}

export function recall(): void {
  zone.value = localStorage.getItem(KEPT_ZONE) === "UTC" ? "UTC" : VIEWER_ZONE;
}
