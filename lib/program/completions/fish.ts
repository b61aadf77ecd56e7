import type { CompletionModel, Offer, OfferedFlag } from "./model.ts";

/** The completion script for fish. Pure. */
export function fishScript({ commands, values }: CompletionModel): string {
  const withValue = values.map(({ name }) => `--${name}`).join(" ");
  const lines = commands.flatMap(({ name, summary, argument, flags }) => [
    `complete -c ralph -n 'not __ralph_command >/dev/null' -a ${name} -d ${quoted(summary)}`,
    ...argumentLines(name, argument),
    ...flags.map((flag) => flagLine(name, flag)),
  ]);
  return `# fish completion for ralph, written by \`ralph completions fish\`
function __ralph_command
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
            continue
        end
        switch $word
            case ${withValue}
                set skip 1
            case '-*'
            case '*'
                echo $word
                return 0
        end
    end
    return 1
end
function __ralph_is
    test (__ralph_command; or echo) = $argv[1]
end
complete -c ralph -f
complete -c ralph -n 'not __ralph_command >/dev/null' -l help -d 'show the commands'
complete -c ralph -n 'not __ralph_command >/dev/null' -l version -d 'show the version'
${lines.join("\n")}
`;
}

function argumentLines(command: string, { words, paths }: Offer): readonly string[] {
  const when = `complete -c ralph -n '__ralph_is ${command}'`;
  return [
    ...(words.length === 0 ? [] : [`${when} -a ${quoted(words.join(" "))}`]),
    ...(paths === "files" ? [`${when} -F`] : paths === "folders" ? [`${when} -a '(__fish_complete_directories)'`] : []),
  ];
}

function flagLine(command: string, { name, summary, takesValue, words, paths }: OfferedFlag): string {
  const value = takesValue ? valueOf({ words, paths }) : "";
  return `complete -c ralph -n '__ralph_is ${command}' -l ${name}${value} -d ${quoted(summary)}`;
}

function valueOf({ words, paths }: Offer): string {
  if (words.length > 0) return ` -x -a ${quoted(words.join(" "))}`;
  if (paths === null) return " -x";
  return paths === "files" ? " -r -F" : " -x -a '(__fish_complete_directories)'";
}

function quoted(text: string): string {
  return `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
}
