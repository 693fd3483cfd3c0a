/** What people call the job of a crontab, whose identity is a hash (S37): the file, and what its line runs. */

const PREFIX = "crontab:";

/** `live.crontab: df -h /`; undefined: it has a name of its own. */
function crontabCalled(identity: string, description: string): string | undefined {
  if (!identity.startsWith(PREFIX) || description === "") return undefined;
  return `${identity.slice(PREFIX.length, identity.lastIndexOf(":"))}: ${description}`;
}

/** As a field beside the identity, of those that have it. */
export function calledField(identity: string, description: string): { readonly called?: string } {
  const called = crontabCalled(identity, description);
  return called === undefined ? {} : { called };
}
