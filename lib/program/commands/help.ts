import { EXIT } from "../../errors/exit_codes.ts";
import type { Invocation } from "../../cli/command.ts";
import { COMMANDS, findCommand } from "../commands.ts";
import { commandHelp, generalHelp, TOPICS } from "../../cli/help.ts";
import { usage } from "../../cli/parse.ts";
import { nearest } from "../../errors/nearest.ts";

/** `ralph help [COMMAND|TOPIC]`. */
export function run({ arguments: [name], out }: Invocation): Promise<number> {
  out(textFor(name));
  return Promise.resolve(EXIT.done);
}

function textFor(name: string | undefined): string {
  if (name === undefined) return generalHelp(COMMANDS);
  const command = findCommand(name);
  if (command !== undefined) return commandHelp(command);
  const topic = Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined;
  if (topic !== undefined) return topic(COMMANDS);
  const near = nearest(name, [...COMMANDS.map((known) => known.name), ...Object.keys(TOPICS)]);
  throw usage(`there is no help on \`${name}\``, near === null ? undefined : `did you mean \`ralph help ${near}\`?`);
}
