import { localDate } from "../../host/local_date.ts";
import { changeLines } from "./change_lines.ts";
import { sameNumber } from "./numbers.ts";
import { type ProgressChange, progressValue } from "./progress_value.ts";
import { findSection, parseState, type StateField } from "./state_file.ts";

/** STATE.md is to say this of the current position. */
export interface StateUpdate {
  /** Written only where STATE.md is at another phase. */
  readonly phase: string;
  readonly phaseName: string;
  /** The last phase that there is: phases may have been added. */
  readonly lastPhase?: string;
  /** The plan's place in its phase, from 1, and how many there are. */
  readonly plan: number;
  readonly plans: number;
  readonly status: string;
  /** The work that was done, without the date. */
  readonly activity: string;
  /** Milliseconds since 1970. */
  readonly now: number;
  /** `Progress:` as it was, and what has changed since; `null`: it stays. */
  readonly progress: ProgressChange | null;
  /** The plan is older than the position: that stays, only the activity is written. @default false */
  readonly behind?: boolean;
}

/**
 * STATE.md with another position, in its own style: only lines under `## Current Position` change. A field that is
 * missing there is put behind the one before it. Without that section nothing is changed. Pure.
 */
export function rewriteState(text: string, update: StateUpdate): string {
  const section = findSection(text);
  if (section === null) return text;
  const changes = new Map<number, string>();
  const insertions = new Map<number, string[]>();
  const set = (label: StateField["label"], value: (old: string) => string): void => {
    const field = section.fields.find((one) => one.label === label);
    if (field !== undefined) return void changes.set(field.line, `${field.before}${value(field.value)}${field.after}`);
    const earlier = ORDER.slice(0, ORDER.indexOf(label)).toReversed();
    const behind = earlier.map((one) => section.fields.find((other) => other.label === one)).find((one) => one) ??
      section.fields[0];
    const line = behind?.line ?? section.heading;
    insertions.set(line, [...insertions.get(line) ?? [], labelled(label, behind?.before ?? "Plan: ") + value("")]);
  };
  if (update.behind !== true) {
    const { phase } = parseState(text);
    if (phase === null || !sameNumber(phase, update.phase)) set("phase", (old) => phaseValue(old, update));
    set("plan", (old) => planValue(old, update));
    set("status", () => update.status);
  }
  set("last activity", (old) => activityValue(old, update));
  const { progress } = update;
  if (progress !== null && update.behind !== true && section.fields.some(({ label }) => label === "progress")) {
    set("progress", () => progressValue(progress));
  }
  return changeLines(text, changes, insertions);
}

/** The agent's STATE.md with Ralph's own current position in it: the other sections are the agent's. Pure. */
export function withSectionOf(found: string, written: string): string {
  const theirs = findSection(found);
  const ours = findSection(written);
  if (theirs === null || ours === null) return written;
  const lines = linesOf(written).slice(ours.heading - 1, ours.end);
  const all = linesOf(found);
  const last = lines.length - 1;
  const lineEnd = found.includes("\r\n") ? "\r\n" : "\n";
  const end = theirs.end === all.length ? "" : lineEnd;
  // The last line of a file may have no end; in the middle of one it needs it, and the other way round.
  const fitted = lines.map((line, index) => index === last ? line.replace(/\r?\n$/, "") + end : line);
  return [...all.slice(0, theirs.heading - 1), ...fitted, ...all.slice(theirs.end)].join("");
}

function linesOf(text: string): readonly string[] {
  return text.split(/(?<=\n)/).concat(text.endsWith("\n") || text === "" ? [""] : []);
}

const ORDER: readonly StateField["label"][] = ["phase", "plan", "status", "last activity"];

/** All before a field's value, in the style of another field. */
function labelled(label: string, model: string): string {
  const mark = /^\s*(?:[-*]\s+)?(?=\*\*|\w)/.exec(model)?.[0] ?? "";
  const name = label.slice(0, 1).toUpperCase() + label.slice(1);
  if (model.includes("**:")) return `${mark}**${name}**: `;
  return model.includes(":**") ? `${mark}**${name}:** ` : `${mark}${name}: `;
}

function phaseValue(old: string, { phase, phaseName, lastPhase = phase }: StateUpdate): string {
  const match = /^(Phase\s+)?(\d+[A-Za-z]?(?:\.\d+)*)((?:\s*(?:of|\/)\s*[\w.?]+)?)(\s*\(|\s*[–—-]+\s*)?(.*?)(\)?)$/i
    .exec(old);
  const number = /^0\d/.test(match?.[2] ?? "") ? phase.padStart(2, "0") : phase.replace(/^0+(?=\d)/, "");
  if (match === null) return phaseName === "" ? number : `${number} (${phaseName})`;
  const [, word = "", , of = "", open = "", , close = ""] = match;
  const total = of.replace(
    /\d+$/,
    (count) => Number(count) < Number.parseInt(phase, 10) ? `${Number.parseInt(lastPhase, 10)}` : count,
  );
  if (open === "" || phaseName === "") return `${word}${number}${total}`;
  return `${word}${number}${total}${open}${phaseName}${open.includes("(") ? close || ")" : ""}`;
}

function planValue(old: string, { plan, plans }: StateUpdate): string {
  const match = /^(0?\d+)(\s*(?:of|\/)\s*)([\w?]+)(.*)$/i.exec(old);
  if (match === null) return `${plan} of ${plans}`;
  const [, number = "", between = " of ", , rest = ""] = match;
  const tail = /^\s+in current phase/i.exec(rest)?.[0] ?? "";
  return `${/^0\d/.test(number) ? String(plan).padStart(2, "0") : plan}${between}${plans}${tail}`;
}

function activityValue(old: string, { activity, now }: StateUpdate): string {
  const [, stamp, separator = " — "] = /^(\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?)?(\s+[–—-]+\s+)?/.exec(old) ?? [];
  const date = stamp?.includes("T") === true ? new Date(now).toISOString() : localDate(now);
  return `${date}${separator}${activity}`;
}
