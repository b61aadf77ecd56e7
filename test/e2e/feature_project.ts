import { type Cli, type CliResult, ralphCli } from "./cli.ts";

/** One story of a test's PRD. */
export function story(id: string, more: object = {}): object {
  return {
    id,
    title: `Do ${id}`,
    description: `As a user I want ${id}`,
    acceptanceCriteria: [`${id}.txt is there`],
    tags: [],
    priority: Number(id.slice(3)),
    ...more,
  };
}

export const PRD_FILE = ".ralph/2024-01-15-auth/prd.json";

/** A PRD of version 2, with keys that Ralph does not know. */
export function prd(stories: readonly object[], more: object = {}): string {
  return `${
    JSON.stringify(
      {
        schemaVersion: 2,
        project: "P",
        branchName: "ralph/auth",
        description: "d",
        owner: { team: "x" },
        userStories: stories,
        ...more,
      },
      null,
      2,
    )
  }\n`;
}

/** Says what a final verification wants to hear. */
export const ACCEPT = '*"Final Verification"*) echo "<ralph>VERIFIED</ralph>";;';

/** A project with a feature `auth`; the agent is a shell script, `$prompt` its prompt. */
export function feature(branches: string, stories: readonly object[], config: object = {}): Cli {
  const worker = `prompt=$(cat); state=../state; mkdir -p $state
count() { n=$(cat $state/$1 2>/dev/null || echo 0); n=$((n + 1)); echo $n > $state/$1; echo $n; }
done_() { echo "<ralph>DONE</ralph>"; }
case "$prompt" in
${branches}
esac`;
  return ralphCli().files({
    [PRD_FILE]: prd(stories),
    "ralph.config.json": JSON.stringify({
      provider: { command: "worker" },
      verify: { default: ["sh check.sh"] },
      ...config,
    }),
    "check.sh":
      'for f in US-*.txt; do [ -e "$f" ] || exit 0; grep -q good "$f" || { echo "$f is not good"; exit 1; }; done\n',
  }).agent("worker", worker);
}

/** The stories as prd.json has them. */
export function storiesOf(result: CliResult): readonly Record<string, unknown>[] {
  return JSON.parse(result.read(PRD_FILE) ?? "").userStories;
}

/** Bodies of Ralph's state commits, oldest first. */
export function steps(result: CliResult): readonly string[] {
  return result.git("log", "--reverse", "--format=%b").split("\n").filter((line) => line.startsWith("ralph: ")).map((
    line,
  ) => line.slice("ralph: ".length));
}
