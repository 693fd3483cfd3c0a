/** Fields that this version does not know are kept, after the known ones: an older program must not forget what a newer one wrote. */
export function withUnknown(ordered: object, value: object, known: object = ordered): object {
  for (const key in value) if (!Object.hasOwn(known, key)) return allFields(ordered, value, known);
  return ordered;
}

/** `Object.fromEntries` defines own properties, so that even a field named `__proto__` stays plain data. */
function allFields(ordered: object, value: object, known: object): object {
  const unknown = Object.entries(value).filter(([key]) => !Object.hasOwn(known, key));
  return Object.fromEntries([...Object.entries(ordered), ...unknown]);
}
