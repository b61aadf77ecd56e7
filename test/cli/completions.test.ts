import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { bashScript, fishScript, powershellScript, zshScript } from "../../lib/program/commands/completions.ts";
import { completionModel, SHELLS } from "../../lib/program/completions/model.ts";
import { COMMANDS } from "../../lib/program/commands.ts";
import { needs } from "../needs.ts";

const MODEL = completionModel(COMMANDS);
const NAMES = COMMANDS.map(({ name }) => name);
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: bashScript(MODEL),
  zsh: zshScript(MODEL),
  fish: fishScript(MODEL),
  powershell: powershellScript(MODEL),
};

/** A line offers these at its end. Every shell must offer the same. */
const LINES: readonly (readonly [line: readonly string[], offers: readonly string[]])[] = [
  [[""], [...NAMES, "--help", "--version"]],
  [["re"], ["recipes", "report", "restore", "resume"]],
  [["run", "--ui", ""], ["auto", "json", "plain", "rich"]],
  [["run", "--ui", "p"], ["plain"]],
  [["exec", "--approve", "a"], ["all"]],
  [["run", "--agent", "cod"], ["codex"]],
  [["init", "--workflow", "s"], ["spec", "sprint"]],
  [["--root", "run", "schem"], ["schema"]],
  [["run", "--max-it"], ["--max-iterations"]],
  [["query", ""], ["issues", "next", "stage", "tasks"]],
  [["completions", ""], [...SHELLS]],
  [["schema", ""], ["config", "events", "gate", "plan", "report"]],
  [["help", "exit"], ["exit-codes"]],
  [["report", "--format", ""], ["html", "json", "md"]],
  [["report", "--output", "a f"], ["a file.md", "a folder"]],
  [["doctor", "--root", "a fo"], ["a folder"]],
];

/** Runs a program in a folder with a file and a folder in it. */
function inShell(shell: string, flags: readonly string[], program: string): string {
  const folder = mkdtempSync(join(tmpdir(), "ralph-shell-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "a file.md"), "");
  spawnSync("mkdir", [join(folder, "a folder")]);
  writeFileSync(join(folder, "script"), SCRIPTS[shell] as string);
  writeFileSync(join(folder, "program"), program);
  const { stdout, stderr } = spawnSync(shell, [...flags, "program"], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: process.env["PATH"], HOME: folder, LC_ALL: "C.UTF-8" },
  });
  expect(stderr).toBe("");
  return stdout;
}

const sorted = (text: string): readonly string[] => text.split("\n").filter((word) => word !== "").toSorted();
const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

describe.each(SHELLS)("the completion script for %s", (shell) => {
  test("holds every command, and every flag of each", () => {
    const script = SCRIPTS[shell] as string;
    for (const { name, flags } of COMMANDS) {
      expect(script).toMatch(new RegExp(`(?<![\\w-])${name}(?![\\w-])`));
      for (const flag of Object.keys(flags)) {
        expect(script).toMatch(new RegExp(`(?:--|-l )${flag}(?![\\w-])`));
      }
    }
  });
});

describe("in bash", needs("bash"), () => {
  test("it is registered for ralph", () => {
    expect(inShell("bash", ["--norc"], "source ./script\ncomplete -p ralph")).toBe("complete -F _ralph ralph\n");
  });

  test.each(LINES)("%j offers what fits", (line, offers) => {
    const words = ["ralph", ...line];
    const program = `source ./script
COMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}
_ralph
printf '%s\\n' "\${COMPREPLY[@]}"`;

    expect(sorted(inShell("bash", ["--norc"], program))).toEqual(offers.toSorted());
  });

  test("--flag=value comes as three words", () => {
    const program = `source ./script
COMP_WORDS=(ralph run --ui = r); COMP_CWORD=4
_ralph
printf '%s\\n' "\${COMPREPLY[@]}"`;

    expect(sorted(inShell("bash", ["--norc"], program))).toEqual(["rich"]);
  });
});

describe("in fish", needs("fish"), () => {
  test.each(LINES)("%j offers what fits", (line, offers) => {
    const text = ["ralph", ...line].map((word) => word.replaceAll(" ", "\\ ")).join(" ");
    const program = `source ./script\ncomplete -C '${text.replaceAll("\\", "\\\\")}'`;
    const found = sorted(inShell("fish", ["--no-config"], program)).map((one) =>
      one.split("\t")[0]?.replace(/\/$/, "")
    );

    const flags = line.at(-1)?.startsWith("-") === false && offers.includes("--help");
    expect(found).toEqual((flags ? offers.filter((word) => !word.startsWith("-")) : offers).toSorted());
  });
});

describe("in zsh", needs("zsh"), () => {
  test("it is registered for ralph, evaluated or as a file of fpath", () => {
    const evaluated = `autoload -U compinit; compinit -D -u\nsource ./script\nprint $_comps[ralph]`;
    const autoloaded =
      `cp script _ralph; fpath=($PWD $fpath); autoload -U compinit; compinit -D -u\nprint $_comps[ralph]`;

    expect(inShell("zsh", ["-f"], evaluated)).toBe("_ralph\n");
    expect(inShell("zsh", ["-f"], autoloaded)).toBe("_ralph\n");
  });

  /** zsh's own functions work only while it completes: these stand for them and print what they are offered. */
  test.each(LINES)("%j offers what fits", (line, offers) => {
    const words = ["ralph", ...line];
    const program = `compdef() { :; }
compadd() { shift; print -l -- $@ }
_describe() { print -l -- \${(P)4%%:*} }
_files() { if [[ $1 == -/ ]]; then print -l -- *(/); else print -l -- *; fi }
source ./script
words=(${quoted(words)}); CURRENT=${words.length}; PREFIX=$words[-1]
_ralph`;
    const found = sorted(inShell("zsh", ["-f"], program)).filter((word) => word.startsWith(line.at(-1) ?? ""));

    expect(found).toEqual(offers.toSorted());
  });
});
