/** `services[0].ready` */
export function placeOf(path: readonly PropertyKey[]): string {
  return path.map((part, index) => typeof part === "number" ? `[${part}]` : `${index === 0 ? "" : "."}${String(part)}`)
    .join("");
}

/** The value at a path of keys; `undefined` where there is none. */
export function valueAt(data: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce((value, key) => (Object(value) as Readonly<Record<PropertyKey, unknown>>)[key], data);
}
