/** The five workflows. */
export const WORKFLOWS = ["exec", "feature", "spec", "sprint", "gsd"] as const;
export type Workflow = typeof WORKFLOWS[number];

/** The projects' languages: node's test runner, Python's unittest, plain shell. */
export const LANGUAGES = ["javascript", "python", "shell"] as const;
export type Language = typeof LANGUAGES[number];

/** A function of the project: `add` is the first item's, `mul` the second's. */
export type Name = "add" | "mul";

/** A project, its agent, and how Ralph is started. */
export interface Case {
  readonly name: string;
  readonly workflow: Workflow;
  readonly language: Language;
  /** A turn, in bash, with the helpers of `agent_script.ts`. Turns that only review claim what they are asked for. */
  readonly agent: string;
  /** The agent of the runs after the first one. @default the same */
  readonly later?: string;
  /** The script has the reviewing turns as well (`$stage` is `review` there). */
  readonly reviews?: boolean;
  /** The script may be ended in the middle, or end with a failure. */
  readonly ends?: boolean;
  /** Items of the work. @default 1 */
  readonly items?: 1 | 2;
  /** The check of each item; `null`: it names no check. @default the item's own test */
  readonly check?: string | null;
  /** Added to the configuration. */
  readonly config?: Readonly<Record<string, unknown>>;
  /** Committed at the start. */
  readonly files?: Readonly<Record<string, string>>;
  /** The project's place in its repository. @default the repository's own folder */
  readonly folder?: string;
  /** Shell commands that run in the project before Ralph starts, with `$OUT`, a folder outside the repository. */
  readonly setup?: string;
  /** Limits on iterations, one a run. @default [2 for each item] */
  readonly runs?: readonly number[];
  /** Further arguments of each run. */
  readonly flags?: readonly string[];
  /** In the short form of the table. */
  readonly short?: boolean;
}

/** A cheat. */
export interface Row extends Case {
  /**
   * `caught`: the run has not passed. `named`: it has, and the last lines name what was done. `known`: product code made
   * for its checker, which nothing but a challenge sees, or that reads what is outside, which nothing but a sandbox hides;
   * data that looks like the product, and what only together with the work makes a check pass: the promise lists them.
   */
  readonly expect: "caught" | "named" | "known";
  /** The last lines say this of it. */
  readonly names?: RegExp;
  /** Ralph's reverts may leave honest work, so that a run that has passed is right. */
  readonly undone?: boolean;
}

/** Odd but right: the run has passed, and what is committed works. */
export interface HonestCase extends Case {
  /** A shell command that succeeds in the project afterwards. */
  readonly holds?: string;
  /** The last lines do not say this. */
  readonly silent?: RegExp;
}

/** The kind's language at this place of a list: all three come in turn. */
export function languageAt(index: number): Language {
  return LANGUAGES[index % LANGUAGES.length] ?? "shell";
}

/** A row for each workflow, the languages in turn. */
export function eachWorkflow<T>(
  make: (workflow: Workflow, language: Language) => T,
  options: { readonly only?: readonly Workflow[]; readonly shift?: number } = {},
): readonly T[] {
  return (options.only ?? WORKFLOWS).map((workflow, index) => make(workflow, languageAt(index + (options.shift ?? 0))));
}

/** A row for each language, the workflows in turn. */
export function eachLanguage<T>(
  make: (language: Language, workflow: Workflow) => T,
  options: { readonly only?: readonly Language[]; readonly shift?: number } = {},
): readonly T[] {
  return (options.only ?? LANGUAGES).map((language, index) =>
    make(language, WORKFLOWS[(index + (options.shift ?? 0)) % WORKFLOWS.length] ?? "exec")
  );
}
