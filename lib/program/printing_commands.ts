import type { Command } from "../cli/command.ts";
import { OUTPUT_FLAGS, pick, SHOW_FLAGS } from "../cli/flags.ts";

/** Commands that print what the program itself holds: they look at no project. */
export const PRINTING: readonly Command[] = [
  {
    name: "types",
    insideRun: true,
    summary: "print the type declarations of the SDK, for recipes beside the binary",
    usage: "",
    arity: [0, 0],
    flags: { ...pick(OUTPUT_FLAGS, "output"), ...SHOW_FLAGS },
    details: [
      "ralph types --output ralph.d.ts   an editor knows `ralph` and its subpaths with nothing installed",
      "",
      "Without a tsconfig.json the recipe names it in its first line:",
      '  /// <reference path="./ralph.d.ts" />',
      "With one, both files are part of the project:",
      '  { "compilerOptions": { "target": "es2023", "lib": ["esnext", "dom"], "module": "esnext", "moduleResolution": "bundler",',
      '    "strict": true, "noEmit": true, "allowImportingTsExtensions": true, "skipLibCheck": true, "types": [] },',
      '    "include": ["*.ts"] }',
      "zod and dax, which the binary lends to recipes, bring types of their own when they are installed.",
    ],
    load: async () => ({ run: (await import("./commands/types_and_schema.ts")).types }),
  },
  {
    name: "completions",
    insideRun: true,
    summary: "print a completion script for bash, zsh, fish or powershell",
    usage: "SHELL",
    arity: [1, 1],
    flags: { ...SHOW_FLAGS },
    details: [
      'bash        eval "$(ralph completions bash)" in ~/.bashrc',
      "zsh         ralph completions zsh > a folder of $fpath, as _ralph; or eval as in bash, after compinit",
      "fish        ralph completions fish > ~/.config/fish/completions/ralph.fish",
      "powershell  ralph completions powershell | Out-String | Invoke-Expression in $PROFILE",
    ],
    load: () => import("./commands/completions.ts"),
  },
  {
    name: "man",
    insideRun: true,
    summary: "print the manual page, in the source that `man` reads",
    usage: "",
    arity: [0, 0],
    flags: { ...SHOW_FLAGS },
    details: [
      "ralph man | man -l -                              read it",
      "ralph man > ~/.local/share/man/man1/ralph.1       keep it: then `man ralph`",
    ],
    load: () => import("./commands/man.ts"),
  },
  {
    name: "schema",
    insideRun: true,
    summary: "print a JSON Schema: config, events, plan or report",
    usage: "NAME",
    arity: [1, 1],
    flags: { ...SHOW_FLAGS },
    load: async () => ({ run: (await import("./commands/types_and_schema.ts")).schema }),
  },
  {
    name: "help",
    insideRun: true,
    summary: "help on a command, or on agents, config, environment, exit-codes, install, workflows",
    usage: "[COMMAND|TOPIC]",
    arity: [0, 1],
    flags: { ...SHOW_FLAGS },
    load: () => import("./commands/help.ts"),
  },
];
