import type { Check, Verification } from "../../../backlog/types.ts";
import { storyCommands } from "../../../backlog/verify_commands.ts";
import { verify } from "../../../checks/verify.ts";
import type { RalphContext } from "../../../context/context.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { finalChecks } from "../final_checks.ts";
import { parsePrd } from "../format.ts";
import { PRD_FILE } from "../paths.ts";

/** Every story's checks, each command once; without a PRD those that the configuration names. */
export async function verifyStories(ralph: RalphContext): Promise<Verification> {
  const commands = ralph.config.verify.default;
  const text = await ralph.state.read(PRD_FILE);
  if (text === null && commands.length === 0) {
    throw new RalphError("state-missing", {
      details: { path: PRD_FILE },
      hint: '`ralph plan "<goal>"` writes it; or name commands: `--verify CMD`',
    });
  }
  const checksOf = (more: readonly string[], scope?: string): readonly Check[] =>
    [...new Set([...commands, ...more])].map((command) => ({
      name: command,
      command,
      ...(scope === undefined ? {} : { scope }),
    }));
  if (text === null) return await verify(ralph, checksOf([]));
  const { userStories } = parsePrd(text, PRD_FILE);
  return await verify(ralph, finalChecks(userStories, (story) => checksOf(storyCommands(story), story.id)));
}
