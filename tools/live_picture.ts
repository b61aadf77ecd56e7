/**
 * The recording in the README: `ralph demo` is run, and the lines that it printed and the events that it recorded are
 * drawn as an animated SVG, by a fixed clock. The same demo gives the same bytes.
 */
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import process from "node:process";
import type { RalphEvent } from "../lib/events/types.ts";
import { createHumanReporter } from "../lib/ui/create_reporter.ts";
import { createStyle } from "../lib/ui/text.ts";
import { EMPTY_VIEW, nextView, viewLines } from "../lib/ui/view_lines.ts";
import { wrapText } from "../lib/ui/wrap_text.ts";
import { bunPath, environment, ROOT } from "./runtimes.mjs";

/** A demo that has ended: its project, and all that it printed. */
export interface Demo {
  readonly root: string;
  readonly printed: string;
  readonly events: readonly RalphEvent[];
}

/** The screen from a moment on. */
interface State {
  readonly atMs: number;
  /** Rows that have been printed by then. */
  readonly rows: number;
  readonly footer: readonly string[];
}

const COMMAND = "ralph demo --approve all";
const [COLUMNS, ROWS] = [80, 24];
const [WIDTH, HEIGHT, LEFT, TOP] = [8.43, 19, 16, 44];
const STYLE = createStyle({ colour: true, ascii: false });
/** Milliseconds that pass before an event; a line that asks is read for a while. */
const BEFORE: Partial<Record<RalphEvent["type"], number>> = {
  "agent-text": 300,
  "turn-end": 1000,
  "check-end": 400,
  "iteration-start": 300,
};
const READING_MS = 900;
const END_MS = 6000;

/** Runs the demo as a person would, in a folder of its own, which is left there. */
export function runDemo(): Demo {
  const folder = mkdtempSync(join(tmpdir(), "ralph-picture-"));
  // the checkout's own programs may change while other tests run, and the demo would name them
  const PATH = (process.env["PATH"] ?? "").split(delimiter).filter((path) => !path.startsWith(ROOT)).join(delimiter);
  const { NO_COLOR: _none, ...variables } = environment({ TMPDIR: folder, FORCE_COLOR: "1", PATH });
  const args = [join(ROOT, "bin/ralph.ts"), ...COMMAND.split(" ").slice(1), "--ui", "rich"];
  const { status, stderr } = spawnSync(bunPath(), args, { encoding: "utf8", env: variables });
  if (status !== 0) throw new Error(`${COMMAND} failed:\n${stderr}`);
  const root = join(folder, readdirSync(folder).find((name) => name.startsWith("ralph-demo-")) ?? "");
  const runs = join(root, "scripts/ralph/runs");
  const run = readdirSync(runs).find((name) => /^\d/.test(name)) ?? "";
  const lines = readFileSync(join(runs, run, "events.ndjson"), "utf8").trim().split("\n");
  const fixed = (text: string): string =>
    text.replaceAll(root, "/tmp/ralph-demo").replaceAll(run, "20260101-120000-demo");
  const events = lines.map((line) => JSON.parse(fixed(line)) as RalphEvent);
  // by default root's run has none, another user's has one where bubblewrap works
  const printed = fixed(stderr).replaceAll(/^.*sandbox: .*\n/gm, "");
  return { root, printed, events: events.filter(({ type }) => type !== "sandbox") };
}

/** The picture of a demo. @throws {Error} the demo did not print its events */
export function livePicture({ printed, events }: Demo): string {
  const { rows, states } = film(printed.trimEnd().split("\n"), events);
  return draw(rows, states);
}

/** Times and ids differ from run to run. */
function masked(line: string): string {
  return plain(line).replaceAll(/\b[0-9a-f]{7}\b/g, "ID").replaceAll(/\b[\d.]+(?:ms|s)\b/g, "TIME").trim();
}

/** The codes that are in force where the row ends. */
function stillPainted(row: string): string {
  const codes = row.match(/\u001b\[\d+m/g) ?? [];
  return codes.slice(codes.findLastIndex((code) => /\[(?:22|39)m/.test(code)) + 1).join("");
}

function plain(line: string): string {
  return line.replaceAll(/\u001b\[\d+m/g, "");
}

/** Each event by the fixed clock, and between them the lines that the demo printed beside its events. */
function film(printed: readonly string[], events: readonly RalphEvent[]): { rows: string[]; states: State[] } {
  const rows: string[] = [`${STYLE.good("$")} ${COMMAND}`];
  const states: State[] = [{ atMs: 0, rows: 1, footer: [] }];
  const began = new Map<string, number>();
  let [nowMs, next, view] = [300, 0, EMPTY_VIEW];
  const show = (): void => {
    const footer = viewLines(view, { columns: COLUMNS, rows: ROWS, now: nowMs, style: STYLE });
    states.push({ atMs: nowMs, rows: rows.length, footer });
  };
  const print = (line: string): void => {
    let painted = "";
    for (const row of wrapText(line, COLUMNS).split("\n")) {
      rows.push(painted + row);
      painted = stillPainted(painted + row);
    }
  };
  /** The lines before this one were no event's. */
  const printUpTo = (end: number): void => {
    for (const line of printed.slice(next, end)) {
      print(line.replace(/[\d.]+(?:m \d+)?s(?=, tokens unknown)/, `${Math.round(nowMs / 1000)}s`));
      if (!/^ {2}\? /.test(plain(line))) continue;
      show();
      nowMs += READING_MS;
    }
    next = end;
  };
  const say = (line: string): void => {
    const at = printed.findIndex((other, index) => index >= next && masked(other) === masked(line));
    if (at < 0) throw new Error(`the demo did not print: ${plain(line)}`);
    printUpTo(at);
    print(line);
    next++;
  };
  const reporter = createHumanReporter({ mode: "rich", detail: "normal", style: STYLE, say });
  for (const event of events) {
    nowMs += BEFORE[event.type] ?? 100;
    const key = event.type.replace(/-(?:start|end)$/, "");
    if (event.type.endsWith("-start")) began.set(key, nowMs);
    const timed = { ...event, ...("durationMs" in event ? { durationMs: nowMs - (began.get(key) ?? nowMs) } : {}) };
    const seen = event.type === "commit" ? { ...event, commit: hashOf(event.subject) } : timed as RalphEvent;
    reporter.emit(seen);
    view = nextView(view, seen, nowMs);
    show();
  }
  printUpTo(printed.findIndex((line) => line.startsWith("next: ")) + 1);
  show();
  return { rows, states };
}

function hashOf(subject: string): string {
  return createHash("sha1").update(subject).digest("hex");
}

const CLASSES: Readonly<Record<string, string>> = { 1: "b", 2: "d", 31: "r", 32: "g", 33: "y", 36: "c" };

/** A line of the terminal as the content of a `<text>`. */
function spans(line: string): string {
  let [drawn, painted] = ["", new Set<string>()];
  for (const [index, part] of line.split(/\u001b\[(\d+)m/).entries()) {
    if (index % 2 === 1) {
      const ended = part === "22" ? ["b", "d"] : part === "39" ? ["r", "g", "y", "c"] : [];
      painted = new Set([...painted, CLASSES[part] ?? ""].filter((name) => name !== "" && !ended.includes(name)));
    } else if (part !== "") {
      const text = part.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
      drawn += painted.size === 0 ? text : `<tspan class="${[...painted].join(" ")}">${text}</tspan>`;
    }
  }
  return drawn;
}

function texts(lines: readonly string[], first: number): string {
  return lines.flatMap((line, index) => {
    const y = (first + index) * HEIGHT + 14;
    return plain(line).trim() === "" ? [] : [`<text y="${y}">${spans(line)}</text>\n`];
  }).join("");
}

/** An element that jumps: where it stands from each moment on. It rests at its last place. */
function jumps(name: string, states: readonly State[], place: (state: State) => number): string {
  const wholeMs = (states.at(-1)?.atMs ?? 0) + END_MS;
  const frames: string[] = [];
  let last = Number.NaN;
  for (const state of states) {
    if (place(state) === last) continue;
    last = place(state);
    frames.push(`${(state.atMs / wholeMs * 100).toFixed(2)}%{transform:translateY(${last * HEIGHT}px)}`);
  }
  const rule = `transform:translateY(${last * HEIGHT}px);animation:${name} ${wholeMs}ms step-end infinite`;
  return `.${name}{${rule}}\n@keyframes ${name}{${frames.join("")}}\n`;
}

const LIGHT = "--p:#fff;--e:#d0d7de;--t:#1f2328;--d:#59636e;--r:#cf222e;--g:#1a7f37;--y:#9a6700;--c:#0a6e7c";
const DARK = "--p:#0d1117;--e:#3d444d;--t:#e6edf3;--d:#9198a1;--r:#ff7b72;--g:#3fb950;--y:#d29922;--c:#39c5cf";

/** Printed rows stand in a strip that scrolls; the live view's states stand in another, behind a window of their height. */
function draw(rows: readonly string[], states: readonly State[]): string {
  const footers = [...new Set(states.map(({ footer }) => footer.join("\n")))];
  const scrolled = (state: State): number => Math.max(0, state.rows + state.footer.length - ROWS);
  const [width, height] = [Math.ceil(COLUMNS * WIDTH + 2 * LEFT), TOP + ROWS * HEIGHT + 10];
  const dots = [0, 1, 2].map((dot) => `<circle cx="${22 + dot * 18}" cy="17" r="5"/>`).join("");
  const strip = footers.map((footer, index) => texts(footer.split("\n"), index * 3)).join("");
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-labelledby="title">
<title id="title">${COMMAND}: a goal becomes a plan, three stories are worked off, one check fails and is repaired</title>
<style>
svg{${LIGHT}}
@media(prefers-color-scheme:dark){svg{${DARK}}}
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace;fill:var(--t);white-space:pre}
.b{font-weight:700}
.d{fill:var(--d)}
.r{fill:var(--r)}
.g{fill:var(--g)}
.y{fill:var(--y)}
.c{fill:var(--c)}
.p{fill:var(--p)}
.e{fill:none;stroke:var(--e)}
circle{fill:var(--e)}
${jumps("rows", states, (state) => -scrolled(state))}${jumps("view", states, (state) => state.rows - scrolled(state))}${
    jumps("now", states, (state) => -3 * footers.indexOf(state.footer.join("\n")))
  }
@media(prefers-reduced-motion:reduce){g{animation:none!important}}
</style>
<rect class="p" width="${width}" height="${height}" rx="9"/>
${dots}
<svg x="${LEFT}" y="${TOP}" width="${width - 2 * LEFT}" height="${ROWS * HEIGHT}" xml:space="preserve">
<g class="rows">
${texts(rows, 0)}</g>
<g class="view"><rect class="p" width="${width}" height="${ROWS * HEIGHT}"/>
<svg width="${width}" height="${3 * HEIGHT}"><g class="now">
${strip}</g></svg></g>
</svg>
<rect class="e" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8.5"/>
</svg>
`;
}
