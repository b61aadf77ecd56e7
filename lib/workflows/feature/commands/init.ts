import { scaffoldFeature } from "../scaffold.ts";
import { suggestChecks } from "../../../backlog/suggest_checks.ts";
import { CONFIG_FILE } from "../../../config/load.ts";
import { EXIT } from "../../../errors/exit_codes.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { createPrompter } from "../../../ui/create_prompter.ts";
import type { Choice, Prompter } from "../../../context/prompter.ts";
import type { Invocation } from "../../../cli/command.ts";
import { findAgents, proofText } from "../../../cli/known_agents.ts";
import type { Place } from "../../../cli/workspace.ts";
import { isPlaceholder } from "../../../cli/validated_file.ts";
import { toJson } from "../../../cli/show.ts";
import { writeNewConfig } from "../../../cli/write_config.ts";

/** `ralph init --workflow feature`: asks for the agent and the checks; writes nothing without a yes. */
export async function initFeature(invocation: Invocation, { root, file }: Place): Promise<number> {
  const { flags, host, say, signal } = invocation;
  const made: string[] = [];
  if (file === null) {
    const hasFlags = flags.text("agent-cmd") !== undefined && flags.all("verify").length > 0;
    if (!hasFlags && !host.terminal.interactive) return await nobodyToAsk(invocation, root);
    const prompter = createPrompter({ mode: "rich", terminal: host.terminal, approvals: new Set(), signal });
    const asked = flags.text("agent-cmd");
    const provider = asked === undefined ? await askForAgent(invocation, prompter) : { command: asked };
    const checks = flags.all("verify").length > 0 ? flags.all("verify") : await askForChecks(root, prompter);
    const bad = checks.find(isPlaceholder);
    if (bad !== undefined) {
      throw new RalphError("option-invalid", {
        details: { option: "--verify", expected: "a command that can fail", value: bad },
        hint: "name the command that runs the project's tests",
      });
    }
    const config = { workflow: "feature", provider, verify: { default: checks } };
    if (!hasFlags && !await agree(config, prompter)) {
      say("nothing was written");
      return EXIT.done;
    }
    made.push(...await writeNewConfig(root, config));
  }
  made.push(...await scaffoldFeature(root));
  say(`workflow feature in ${root}`);
  for (const path of made) say(`  ${path}`);
  if (made.length === 0) say("  everything is there already: nothing was written");
  say("next: `ralph prd FEATURE`");
  return EXIT.done;
}

async function nobodyToAsk({ say }: Invocation, root: string): Promise<number> {
  for (const { command, from } of await suggestChecks(root)) say(`found in ${from}: \`${command}\``);
  say("error: nothing was written: there is no terminal to ask in");
  say('hint: name the agent and what must pass: `ralph init --workflow feature --agent-cmd "…" --verify "…"`');
  return EXIT.usage;
}

const OTHER = "other";

async function askForAgent({ host }: Invocation, prompter: Prompter): Promise<object> {
  const found = await findAgents(host);
  const choices: Choice[] = found.map(({ name, adapter }) => ({ value: name, label: name, hint: proofText(adapter) }));
  const [first] = choices;
  if (first !== undefined) {
    const answer = await prompter.ask({
      id: "init.agent",
      kind: "select",
      message: "Which agent is to do the work?",
      details: ["found on PATH; it works on this tree without asking for permission"],
      initial: first.value,
      choices: [...choices, { value: OTHER, label: "another command" }],
    });
    if (answer.value !== OTHER) return { preset: answer.value };
  }
  const command = await askUntil(prompter, {
    id: "init.agent-command",
    message: "Which command is the agent? It gets the prompt on standard input",
    placeholder: "my-agent --yes",
  }, (value) => value !== "");
  return { command };
}

async function askForChecks(root: string, prompter: Prompter): Promise<readonly string[]> {
  const suggested = await suggestChecks(root);
  const details = suggested.map(({ command, from }) => `found in ${from}: ${command}`);
  const checks: string[] = [];
  const [first] = suggested;
  checks.push(
    await askUntil(prompter, {
      id: "init.check",
      message: "Which command must pass for every story?",
      details,
      ...(first === undefined ? { placeholder: "npm test" } : { initial: first.command }),
    }, (value) => !isPlaceholder(value)),
  );
  for (let number = 2;; number++) {
    const message = "Which other one? (nothing: no more)";
    const { value } = await prompter.ask({ id: `init.check-${number}`, kind: "text", message, initial: "" });
    if (value.trim() === "") return checks;
    if (!isPlaceholder(value)) checks.push(value.trim());
  }
}

/** Asks again until the answer can be used: a command that checks nothing is none. */
async function askUntil(
  prompter: Prompter,
  question: {
    readonly id: string;
    readonly message: string;
    readonly details?: readonly string[];
    readonly initial?: string;
    readonly placeholder?: string;
  },
  isUsable: (value: string) => boolean,
): Promise<string> {
  for (;;) {
    const { value } = await prompter.ask({ kind: "text", ...question });
    if (isUsable(value.trim())) return value.trim();
  }
}

async function agree(config: object, prompter: Prompter): Promise<boolean> {
  const details = toJson(config).split("\n");
  return (await prompter.ask({
    id: "init.write",
    kind: "confirm",
    message: `Write this to ${CONFIG_FILE}?`,
    details,
    initial: true,
  })).value === "yes";
}
