import { type Document, isMap, isScalar, isSeq, parseDocument, YAMLMap } from "yaml";

type Values = Readonly<Record<string, unknown>>;
type Formatted = Parameters<YAMLMap["toString"]>;

/**
 * An entry of a list that was formatted: its text and its values, a fifth of the memory of its nodes. It becomes an
 * ordinary map, read from the text, when it is changed or a node of it is asked for.
 */
interface WrittenEntry extends YAMLMap {
  readonly text: string;
  readonly indent: string;
  readonly values: Values;
}

/** Formats a document. From then on what its lists of these keys hold is kept as text; what is written is the same. */
export function formatEntries(document: Document, keys: readonly string[], format: () => string): string {
  const texts = new Map<YAMLMap, WrittenEntry>();
  const lists = keys.map((key) => document.get(key)).filter((list) => isSeq(list));
  const fresh = lists.flatMap(({ items }) => items).filter((entry): entry is YAMLMap =>
    isMap(entry) && Object.getPrototypeOf(entry) === YAMLMap.prototype
  );
  for (const entry of fresh) {
    entry.toString = (...given: Formatted) => {
      const [context, onComment, onChompKeep] = given;
      let isWhole = true;
      const text = YAMLMap.prototype.toString.call(entry, context, onComment, () => {
        isWhole = false; // what follows depends on how it ends
        onChompKeep?.();
      });
      const values = isWhole ? valuesOf(entry) : null;
      if (values !== null && isPlain(context)) texts.set(entry, written(entry, text, context?.indent ?? "", values));
      return text;
    };
  }
  try {
    return format();
  } finally {
    for (const entry of fresh) Reflect.deleteProperty(entry, "toString");
    for (const list of lists) list.items = list.items.map((entry) => texts.get(entry as YAMLMap) ?? entry);
  }
}

/** Its values where it holds single values without comments and no more; else `null`. */
function valuesOf({ items, comment, anchor, tag }: YAMLMap): Values | null {
  if (comment || anchor || tag) return null;
  const values: Record<string, unknown> = {};
  for (const { key, value } of items) {
    const name = plainValue(key);
    const single = plainValue(value);
    if (typeof name !== "string" || name === "__proto__" || single === undefined || name in values) return null;
    values[name] = single;
  }
  return values;
}

/** `undefined`: more than a value. */
function plainValue(node: unknown): string | number | boolean | null | undefined {
  let value = node;
  if (isScalar(node)) {
    const { anchor, comment, commentBefore, spaceBefore, tag } = node;
    if (anchor || comment || commentBefore || spaceBefore || tag) return undefined;
    value = node.value;
  }
  return value === null || typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : undefined;
}

function isPlain(context: Formatted[0]): boolean {
  return context !== undefined && context.inFlow !== true && context.allNullValues !== true;
}

function written(entry: YAMLMap, text: string, indent: string, values: Values): WrittenEntry {
  const { commentBefore, spaceBefore } = entry;
  return Object.assign(Object.create(WRITTEN) as WrittenEntry, {
    // the library joins a text of fifty pieces, which engines keep in memory; in one piece, as a file will have it
    text: Buffer.from(text).toString(),
    indent,
    values,
    ...(commentBefore ? { commentBefore } : {}),
    ...(spaceBefore ? { spaceBefore } : {}),
  });
}

/** Written entries share this with a map, or do it otherwise. */
const WRITTEN: YAMLMap = Object.create(new YAMLMap(), {
  ...Object.fromEntries((["items", "comment", "anchor", "tag", "flow"] as const).map((name) => [name, {
    get(this: WrittenEntry): unknown {
      return name === "items" ? asMap(this).items : undefined;
    },
    set(this: WrittenEntry, value: unknown): void {
      Reflect.set(asMap(this), name, value);
    },
  }])),
  get: {
    value(this: WrittenEntry, key: unknown, keepScalar?: boolean): unknown {
      if (keepScalar === true || typeof key !== "string") return asMap(this).get(key, keepScalar);
      return Object.hasOwn(this.values, key) ? this.values[key] ?? undefined : undefined;
    },
  },
  toJSON: {
    value(this: WrittenEntry, ...given: Parameters<YAMLMap["toJSON"]>): unknown {
      const [, context, type] = given;
      if (type !== undefined || context?.mapAsMap === true) return asMap(this).toJSON(...given);
      const values = { ...this.values };
      context?.onCreate?.(values);
      return values;
    },
  },
  toString: {
    value(this: WrittenEntry, ...given: Formatted): string {
      const isSame = isPlain(given[0]) && given[0]?.indent === this.indent;
      return isSame ? this.text : asMap(this).toString(...given);
    },
  },
}) as YAMLMap;

/** The entry itself, as a map of nodes from here on. */
function asMap(entry: WrittenEntry): YAMLMap {
  const { contents } = parseDocument(`${entry.indent}${entry.text}`, { uniqueKeys: false });
  if (!isMap(contents)) throw new TypeError(`not a map: ${entry.text}`);
  for (const name of ["text", "indent", "values"]) Reflect.deleteProperty(entry, name);
  Object.setPrototypeOf(entry, YAMLMap.prototype);
  return Object.defineProperties(entry, Object.getOwnPropertyDescriptors(contents));
}
