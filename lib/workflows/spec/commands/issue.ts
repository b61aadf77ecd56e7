import { newId } from "../ids.ts";
import { idsOf } from "../mutations/add_tasks.ts";
import { issuesOf } from "../plan_file.ts";
import type { Invocation } from "../../../cli/command.ts";
import { linesOfInput } from "./lines_of_input.ts";
import { changePlan, claimLine, openPlan } from "./open_plan.ts";
import { usage } from "../../../cli/parse.ts";

/** `ralph issue add|done`. */
export async function run(invocation: Invocation): Promise<number> {
  const { arguments: [verb = "", ...words], host } = invocation;
  switch (verb) {
    case "add": {
      if (words.length === 0) {
        throw usage("`ralph issue add` needs a description", '`ralph issue add "what was found"`');
      }
      const descriptions = words.length === 1 && words[0] === "-"
        ? (await linesOfInput(host)).map(descriptionOf)
        : words.map(descriptionOf);
      if (descriptions.length === 0) throw usage("standard input holds no issue", 'one a line: text, or `{"desc": …}`');
      return await changePlan(invocation, await openPlan(invocation), (plan) => {
        const taken = new Set(idsOf(plan));
        return descriptions.map((text) => {
          const id = newId("i", taken, host.ids.random);
          taken.add(id);
          return claimLine(invocation, "issue add", { id, text });
        });
      });
    }
    case "done": {
      if (words.length > 1) throw usage("`ralph issue done` takes one id", "`ralph query issues` lists them");
      return await changePlan(invocation, await openPlan(invocation), (plan) => {
        const id = words[0] ?? issuesOf(plan)[0]?.id;
        return [claimLine(invocation, "issue done", { id })];
      });
    }
    default:
      throw usage(
        `\`ralph issue\` has no \`${verb}\``,
        '`ralph issue add "what was found"` or `ralph issue done [ID]`',
      );
  }
}

function descriptionOf(text: string): string {
  if (!text.trimStart().startsWith("{")) return text.trim();
  try {
    const { desc } = JSON.parse(text) as { readonly desc?: unknown };
    if (typeof desc === "string") return desc;
  } catch {
    return text.trim(); // braces at the start of a sentence
  }
  throw usage(`an issue needs \`desc\` as a string (got: ${text.slice(0, 80)})`, '`ralph issue add "what was found"`');
}
