import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { SCRIPTS, SHELLS } from "../../lib/program/commands/built_in.ts";
import { COMMANDS } from "../../lib/program/commands.ts";
import { offerLines } from "../../lib/program/offers.ts";
import { needs } from "../needs.ts";

const NAMES = COMMANDS.map(({ name }) => name);

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
  [["schema", ""], ["attest", "config", "events", "gate", "plan", "report"]],
  [["help", "exit"], ["exit-codes"]],
  [["report", "--format", ""], ["html", "json", "md"]],
  [["report", "--output", "a f"], ["a file.md", "a folder"]],
  [["doctor", "--root", "a fo"], ["a folder"]],
];

/** Runs a program in a folder with a file, a folder, and a `ralph` that is asked for words once, after these. */
function inShell(shell: string, flags: readonly string[], program: string, asked: readonly string[] = []): string {
  const folder = mkdtempSync(join(tmpdir(), "ralph-shell-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const bin = mkdtempSync(join(tmpdir(), "ralph-bin-"));
  onTestFinished(() => rmSync(bin, { recursive: true, force: true }));
  writeFileSync(join(folder, "a file.md"), "");
  spawnSync("mkdir", [join(folder, "a folder")]);
  writeFileSync(join(bin, "script"), SCRIPTS[shell] as string);
  writeFileSync(join(bin, "program"), program.replaceAll("./script", join(bin, "script")));
  writeFileSync(join(bin, "offers"), `${offerLines(asked, COMMANDS)}\n`);
  writeFileSync(
    join(bin, "ralph"),
    `#!/bin/sh\nfor one in "$@"; do printf '%s\\n' "$one"; done >> "${bin}/asked"\ncat "${bin}/offers"\n`,
    { mode: 0o755 },
  );
  const { stdout, stderr } = spawnSync(shell, [...flags, join(bin, "program")], {
    cwd: folder,
    encoding: "utf8",
    env: { PATH: `${bin}:${process.env["PATH"]}`, HOME: bin, LC_ALL: "C.UTF-8" },
  });
  expect(stderr).toBe("");
  if (asked.length > 0) expect(readFileSync(join(bin, "asked"), "utf8")).toBe(["--complete", ...asked, ""].join("\n"));
  return stdout;
}

/** The question that a script puts for a line. */
const askedFor = (line: readonly string[]): readonly string[] => [`=${line.at(-1) ?? ""}`, ...line.slice(0, -1)];

const sorted = (text: string): readonly string[] => text.split("\n").filter((word) => word !== "").toSorted();
const words = (asked: readonly string[]): readonly string[] =>
  offerLines(asked, COMMANDS).split("\n").map((line) => line.split("\t")[0] ?? "");
const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(" ");

describe("offerLines()", () => {
  test("holds every command, and every flag of each", () => {
    expect(words(["="])).toEqual([...NAMES, "--help", "--version"]);
    for (const { name, flags } of COMMANDS) {
      expect(words(["=-", name])).toEqual(Object.keys(flags).map((flag) => `--${flag}`));
    }
  });

  test("says what a word means", () => {
    expect(offerLines(["="], COMMANDS)).toContain("\nreport\tshow what a run did, as Markdown, HTML or JSON\n");
  });

  test.each(
    [
      ["--flag=value as one word", ["=--ui=r", "run"]],
      ["--flag=value as three words", ["=r", "run", "--ui", "="]],
      ["--flag value", ["=r", "run", "--ui"]],
    ] as const,
  )("offers the values of a flag: %s", (_name, asked) => {
    expect(words(asked).toSorted()).toEqual(["auto", "json", "plain", "rich"]);
  });
});

describe("in bash", needs("bash"), () => {
  test("it is registered for ralph", () => {
    expect(inShell("bash", ["--norc"], "source ./script\ncomplete -p ralph")).toBe("complete -F _ralph ralph\n");
  });

  test.each(LINES)("%j offers what fits", (line, offers) => {
    const typed = ["ralph", ...line];
    const program = `source ./script
COMP_WORDS=(${quoted(typed)}); COMP_CWORD=${typed.length - 1}
_ralph
printf '%s\\n' "\${COMPREPLY[@]}"`;

    expect(sorted(inShell("bash", ["--norc"], program, askedFor(line)))).toEqual(offers.toSorted());
  });

  test("--flag=value comes as three words", () => {
    const program = `source ./script
COMP_WORDS=(ralph run --ui = r); COMP_CWORD=4
_ralph
printf '%s\\n' "\${COMPREPLY[@]}"`;

    expect(sorted(inShell("bash", ["--norc"], program, ["=r", "run", "--ui", "="]))).toEqual(["rich"]);
  });
});

describe("in fish", needs("fish"), () => {
  test.each(LINES)("%j offers what fits", (line, offers) => {
    const text = ["ralph", ...line].map((word) => word.replaceAll(" ", "\\ ")).join(" ");
    const program = `source ./script\ncomplete -C '${text.replaceAll("\\", "\\\\")}'`;
    const found = sorted(inShell("fish", ["--no-config"], program, askedFor(line))).map((one) =>
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
      `cp ./script _ralph; fpath=($PWD $fpath); autoload -U compinit; compinit -D -u\nprint $_comps[ralph]`;

    expect(inShell("zsh", ["-f"], evaluated)).toBe("_ralph\n");
    expect(inShell("zsh", ["-f"], autoloaded)).toBe("_ralph\n");
  });

  /** zsh's own functions work only while it completes: these stand for them and print what they are offered. */
  test.each(LINES)("%j offers what fits", (line, offers) => {
    const typed = ["ralph", ...line];
    const program = `compdef() { :; }
compadd() { shift; print -l -- $@ }
_describe() { print -l -- \${(P)4%%:*} }
_files() { if [[ $1 == -/ ]]; then print -l -- *(/); else print -l -- *; fi }
source ./script
words=(${quoted(typed)}); CURRENT=${typed.length}; PREFIX=$words[-1]
_ralph`;
    const found = sorted(inShell("zsh", ["-f"], program, askedFor(line))).filter((word) =>
      word.startsWith(line.at(-1) ?? "")
    );

    expect(found).toEqual(offers.toSorted());
  });
});
