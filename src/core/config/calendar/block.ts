/** Where a YAML file may name files of dates, without anything that reads YAML. */

/** null: it names none. From the key to the next line that begins with anything but blanks, comments and closing brackets. */
export function calendarsBlock(text: string): string | null {
  const key = /^\ufeff?calendars[ \t]*:/m.exec(text);
  if (key === null) return null;
  const rest = text.slice(key.index);
  const end = rest.search(/\n[^\s#}\]]/);
  return end < 0 ? rest : rest.slice(0, end + 1);
}
