import { type ConfigKey, configKeys } from "../config/json_schema.ts";
import { table } from "./help.ts";

/** `ralph help config`: every key with its type, default and meaning. */
export function configHelp(columns?: number): string {
  const keys = configKeys();
  return [
    "Keys of ralph.config.json, a JSON file in the root of the project. Every key is optional but where it says otherwise.",
    "A key or value that is not known is an error",
    ...sections(keys).flatMap(([section, own]) => [
      "",
      ...section === null ? ["At the top:"] : [`${section.path}: ${section.description}`],
      ...table(own.map((key) => [key.path, `${key.description} [${factsOf(key)}]`] as const), columns),
    ]),
    "",
    "`ralph schema config` prints the JSON Schema; `ralph validate` checks the file",
  ].join("\n");
}

/** The keys of the top, then those of each section, which is named once. */
export function sections(keys: readonly ConfigKey[]): readonly (readonly [ConfigKey | null, readonly ConfigKey[]])[] {
  const within = ({ path }: ConfigKey, before: string): boolean =>
    path.startsWith(before) && !path.slice(before.length).includes(".");
  return [
    [null, keys.filter((key) => within(key, "") && !key.section)],
    ...keys.filter(({ section }) => section).map((section) =>
      [
        section,
        keys.filter((key) => !key.section && (within(key, `${section.path}.`) || within(key, `${section.path}[].`))),
      ] as const
    ).filter(([, own]) => own.length > 0),
  ];
}

function factsOf({ type, default: usual, required }: ConfigKey): string {
  return [type, ...required ? ["required"] : usual === null ? [] : [`default: ${usual}`]].join("; ");
}
