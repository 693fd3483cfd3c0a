/**
 * The settings that several nodes go by, as they lie in their store (S50): what the files say beside the jobs, as one text. An
 * older version of the program may have written it, or a newer one: what it does not say is as where nobody says it.
 */
import { SETTINGS_DEFAULTS, type Settings } from "./settings.js";

export function settingsText(settings: Settings): string {
  return JSON.stringify(settings);
}

/** null: none were ever applied. */
export function settingsOfText(text: string | null): Settings {
  const written = (text === null ? {} : JSON.parse(text)) as Partial<Settings>;
  const usual = SETTINGS_DEFAULTS;
  return {
    ...usual,
    ...written,
    history: { ...usual.history, ...written.history },
    ledger: { ...usual.ledger, ...written.ledger },
    http: { ...usual.http, ...written.http },
    notifications: { ...usual.notifications, ...written.notifications },
    limits: { ...usual.limits, ...written.limits },
  };
}
