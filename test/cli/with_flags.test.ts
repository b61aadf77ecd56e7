import { describe, expect, test } from "vitest";
import { type Flags, parseLine } from "../../lib/cli/command.ts";
import { withFlags } from "../../lib/cli/with_flags.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { COMMANDS, findCommand } from "../../lib/program/commands.ts";

const host = createHost();

function again(line: readonly string[], command: string, variables: Readonly<Record<string, string>> = {}): string {
  const [name = "", ...rest] = line;
  const flags: Flags = parseLine(findCommand(name)!, rest, variables).flags;
  const environment = { ...host.environment, variables };
  const program = { commands: COMMANDS, workflows: [], recipes: { shipped: {}, modules: {} } } as never;
  return withFlags({ flags, host: { ...host, environment }, program }, command);
}

describe("withFlags()", () => {
  test("a command that is printed works as printed: with the agent that was given, quoted for the shell", () => {
    const line = [
      "exec",
      "a goal",
      "--agent-cmd",
      "bash it's.sh -x",
      "--verify",
      "npm test",
      "--verify",
      "true",
      "--quiet",
    ];

    expect(again(line, "ralph run --retry-blocked")).toBe(
      "ralph run --retry-blocked --agent-cmd 'bash it'\\''s.sh -x' --verify 'npm test' --verify true",
    );
  });

  test("a run that was confined continues confined", () => {
    expect(again(["run", "--agent", "claude", "--sandbox", "--parallel", "2"], "ralph run")).toBe(
      "ralph run --agent claude --sandbox --parallel 2",
    );
  });

  test("a run continues with the same model server, the same queue and the same place for questions", () => {
    const line = ["run", "--agent", "builtin", "--endpoint", "openrouter", "--ask", "page"];

    expect(again(line, "ralph run")).toBe("ralph run --agent builtin --endpoint openrouter --ask page");
    expect(again(["run", "--queue", "postgres://ralph@db/ralph"], "ralph run")).toBe(
      "ralph run --queue postgres://ralph@db/ralph",
    );
    expect(again(["run", "--queue", "postgres://ralph:pw@db/ralph"], "ralph run")).toBe("ralph run");
    expect(again(["job", "land", "--scope", "auth"], "ralph job take")).toBe("ralph job take --scope auth");
  });

  test("only flags that the command takes, that were typed, and that it does not have", () => {
    const line = ["exec", "a goal", "--agent", "claude", "--model", "m", "--allow-unverified", "--branch", ""];

    expect(again(line, "ralph status")).toBe("ralph status");
    expect(again(line, "ralph run --model other")).toBe(
      "ralph run --model other --agent claude --allow-unverified --branch ''",
    );
    expect(again(["exec", "a goal"], "ralph run", { RALPH_AGENT: "claude" })).toBe("ralph run");
    expect(again(line, "git push")).toBe("git push");
  });
});
