/** Projects whose checks are put to the test, and what the last lines say of them. */
import { execFileSync } from "node:child_process";
import { memoryBacklog } from "../../lib/backlog/memory.ts";
import { loopWorld, type World } from "../loop/loop_world.ts";

/** A project of one language: a function to write, its test, and a check. */
export interface Project {
  readonly files: Readonly<Record<string, string>>;
  readonly check: string;
  /** The function as it is asked for. */
  readonly work: string;
  /** One that the test refuses. */
  readonly stub: string;
}

/** Every file in `test/` is run; what decides does not depend on a language. */
export const SUITE: Project = {
  files: {
    "src/add.sh": "exit 1\n",
    "support/equal.sh": 'equal() { test "$1" = "$2" || exit 1; }\n',
    "test/add.sh": '. support/equal.sh\nequal "$(sh src/add.sh 2 3)" 5\n',
  },
  check: "for test in test/*.sh; do sh -e $test || exit 1; done",
  work: "echo 'echo $(($1 + $2))' > src/add.sh",
  stub: "echo 'echo 4' > src/add.sh",
};

/** A run over one item with this project, in which each turn runs the next of the scripts. */
export async function worldOf(
  { files }: Pick<Project, "files">,
  scripts: readonly string[],
  config: Parameters<typeof loopWorld>[1] = {},
): Promise<World> {
  return await loopWorld(({ cwd }, number) => {
    execFileSync("sh", ["-ec", scripts[number - 1] ?? scripts.at(-1) ?? ""], { cwd, stdio: "pipe" });
    return Promise.resolve({ lines: ["<ralph>DONE</ralph>"] });
  }, { files, ...config });
}

export function one({ check }: Pick<Project, "check">, prompt?: string): ReturnType<typeof memoryBacklog> {
  return memoryBacklog([{
    id: "a",
    title: "Implement add",
    checks: [check],
    ...(prompt === undefined ? {} : { prompt }),
  }]);
}

export type Notices = {
  readonly notices: readonly { readonly kind: string; readonly subject: string; readonly message: string }[];
};

/** The last lines say this of the checks. */
export function said({ notices }: Notices): readonly string[] {
  return notices.filter(({ kind }) => kind === "old-tests" || kind === "cannot-fail").map((
    { kind, subject, message },
  ) => `${kind} ${subject}: ${message}`);
}
