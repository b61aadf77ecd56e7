/** A real terminal: tmux, with a server of its own for each test. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { workingIn } from "../fault/processes.ts";
import type { Prepared } from "./cli.ts";

/** A command on a screen of so many columns and rows. When it has ended, `exit <code>` stands below it. */
export interface TmuxScreen {
  /** The text on the screen, without trailing blanks. */
  text(): string;
  keys(...keys: readonly string[]): void;
  resize(columns: number, rows: number): void;
  /** The screen once the pattern is on it; the limit of the test ends the wait. */
  shows(pattern: RegExp): Promise<string>;
}

export function tmuxScreen({ command, cwd, environment }: Prepared, columns: number, rows: number): TmuxScreen {
  const folder = mkdtempSync(join(tmpdir(), "ralph-tmux-"));
  const tmux = (...args: readonly string[]): string => {
    const done = spawnSync("tmux", ["-S", join(folder, "socket"), "-f", "/dev/null", ...args], {
      encoding: "utf8",
      env: { ...environment, LC_ALL: "C.UTF-8", TMUX: undefined },
    });
    if (done.status !== 0) throw new Error(`tmux ${args.join(" ")}: ${done.stderr}`);
    return done.stdout;
  };
  onTestFinished(async () => {
    spawnSync("tmux", ["-S", join(folder, "socket"), "kill-server"]);
    // a run that its terminal has left still writes how it ended; its project is taken away after this
    for (const deadline = Date.now() + 10_000; workingIn(cwd).length > 0 && Date.now() < deadline;) {
      await new Promise((done) => setTimeout(done, 20));
    }
    rmSync(folder, { recursive: true, force: true });
  });
  const line = command.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(" ");
  const term = environment["TERM"] === "dumb" ? "TERM=dumb " : "";
  const shell = `trap : INT; ${term}${line}; printf 'exit %s\\n' $?; sleep 60`;
  tmux("new-session", "-d", "-x", String(columns), "-y", String(rows), "-c", cwd, "-s", "ralph", shell);
  tmux("set-option", "-g", "window-size", "manual");

  const text = (): string =>
    tmux("capture-pane", "-p", "-t", "ralph").split("\n").map((row) => row.trimEnd()).join("\n").trimEnd();
  return {
    text,
    keys: (...keys) => void tmux("send-keys", "-t", "ralph", ...keys),
    resize: (toColumns, toRows) =>
      void tmux("resize-window", "-t", "ralph", "-x", String(toColumns), "-y", String(toRows)),
    async shows(pattern) {
      for (const deadline = Date.now() + 150_000; Date.now() < deadline;) {
        const shown = text();
        if (pattern.test(shown)) return shown;
        await new Promise((done) => setTimeout(done, 50));
      }
      throw new Error(`${pattern} did not appear in:\n${text()}`);
    },
  };
}
