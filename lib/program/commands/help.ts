import { EXIT } from "../../errors/exit_codes.ts";
import type { Command, Invocation } from "../../cli/command.ts";
import { commandHelp, generalHelp } from "../../cli/help.ts";
import { TOPICS } from "../topics.ts";
import { usage } from "../../cli/parse.ts";
import { nearest } from "../../errors/nearest.ts";

/** `ralph help [COMMAND|TOPIC]`. */
export function run({ arguments: [name], out, program }: Invocation): Promise<number> {
  out(textFor(name, program.commands));
  return Promise.resolve(EXIT.done);
}

function textFor(name: string | undefined, commands: readonly Command[]): string {
  if (name === undefined) return generalHelp(commands);
  const command = commands.find((known) => known.name === name);
  if (command !== undefined) return commandHelp(command);
  const topic = Object.hasOwn(TOPICS, name) ? TOPICS[name] : undefined;
  if (topic !== undefined) return topic(commands);
  const near = nearest(name, [...commands.map((known) => known.name), ...Object.keys(TOPICS)]);
  throw usage(`there is no help on \`${name}\``, near === null ? undefined : `did you mean \`ralph help ${near}\`?`);
}
