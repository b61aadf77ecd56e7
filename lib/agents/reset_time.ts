/**
 * When a limit ends, from the sentence that an agent says it in. Pure.
 *
 * @module
 */
import { words } from "../host/data.ts";
import { orElse } from "../host/looks.ts";
import { instantOf, shownAt } from "./wall_time.ts";

const UNITS_MS: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
const UNIT = String.raw`(?:milliseconds?|ms|seconds?|secs?|s|minutes?|mins?|m|hours?|hrs?|hr|h|days?|d)(?![a-z])`;
const PART = String.raw`\d+(?:\.\d+)?\s*${UNIT}`;
const DURATION_REGEXP = new RegExp(
  String
    .raw`(?:after|in|for|within|wait)[\s:]+(?:about |approximately |another |less than |< ?|~ ?)?(${PART}(?:\s*,?\s*(?:and\s+)?${PART})*)`,
  "i",
);
/** `in 4:59:00` */
const COUNTDOWN_REGEXP = /\b(?:in|after)\s+(\d+):(\d\d)(?::(\d\d))?(?!\s*[ap]\.?m)\b/i;
/** `Retry-After: 120`, `"retryDelay": "34s"`, `resets_in_seconds: 3600`, `x-ratelimit-reset-requests: 6m0s` */
const FIELD_REGEXP = new RegExp(
  String
    .raw`(?:retry[-_ ]?(?:after|delay)|resets?[-_](?:in|after)|ratelimit[-\w]*-reset)(?:[-_]?(ms|milliseconds|seconds|secs?|s)|-\w+)?["'\s]*[:=\s]["'\s]*(?:((?:${PART})+)|(\d+(?:\.\d+)?)(?![\d:/-])(?!\s*[a-z]))`,
  "i",
);
const PART_REGEXP = new RegExp(String.raw`(\d+(?:\.\d+)?)\s*(${UNIT})`, "gi");
const ISO_REGEXP = /\b(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d(?::\d\d(?:\.\d+)?)?)\s*(Z|UTC|[+-]\d\d:?\d\d)?/;
const EPOCH_REGEXP = /(?:\||resets?(?:[_ -]?(?:at|time|on))?["':= ]+)(\d{10}|\d{13})\b/i;
const MONTHS = "jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec";
/** `Nov 22nd, 2026`, `22 November 2026` */
const DATE_REGEXP = new RegExp(
  String
    .raw`\b(?:(?<day>\d{1,2})(?:st|nd|rd|th)?(?: of)? (?<month>${MONTHS})[a-z]*\.?|(?<first>${MONTHS})[a-z]*\.? (?<second>\d{1,2})(?:st|nd|rd|th)?(?!\d))(?:,? (?<year>\d{4})\b)?`,
  "i",
);
const WEEKDAYS = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
const WEEKDAY_REGEXP = /\b(sun|mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?)(?:day)?\b/i;
const TIME_REGEXP = /\b(\d{1,2})(?::(\d\d))?(?::\d\d)?\s*([ap])\.?m\b|\b([01]?\d|2[0-3]):([0-5]\d)\b/i;
/** `GMT+2`, `UTC-05:30` */
const OFFSET_REGEXP = /(?<!\/)\b(?:UTC|GMT) ?([+-])(\d{1,2})(?::?([0-5]\d))?\b/;
const ZONES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    "America/Los_Angeles": "PST PDT PT",
    "America/New_York": "EST EDT ET",
    "America/Chicago": "CST CDT CT",
    "America/Denver": "MST MDT MT",
    "Europe/Helsinki": "EET EEST",
    "Europe/London": "BST",
    "Europe/Paris": "CET CEST",
    "Asia/Tokyo": "JST",
    "Australia/Sydney": "AEST AEDT",
    "UTC": "GMT",
  }).flatMap(([zone, names]) => words(names).map((name) => [name, zone])),
);
const ZONE_NAMES = ["UTC", ...ZONES.keys()].join("|");
const ZONE_REGEXP = new RegExp(String.raw`\(([A-Za-z]+(?:/[A-Za-z_+-]+\d*)*)\)|\b(${ZONE_NAMES})\b`);
/** A sentence begins to say when with these words. */
const WHEN_REGEXP = /(?:wait|resets?|try(?:ing)? again|retry|available|renews?|until|refresh(?:es)?)\b|将[在于]/i;
/** A time of day that has just gone by is over, not a day away. */
const JUST_OVER_MS = 15 * 60_000;
const DAY_MS = 86_400_000;

/**
 * When the limit that a sentence names is over, in milliseconds since 1970; `null` when it does not say.
 *
 * @param now milliseconds since 1970
 * @param zone what times without a zone are in. @default the machine's
 */
export function resetTime(
  sentence: string,
  now: number,
  zone: string = new Intl.DateTimeFormat().resolvedOptions().timeZone,
): number | null {
  const epoch = EPOCH_REGEXP.exec(sentence)?.[1];
  if (epoch !== undefined) return Number(epoch) * (epoch.length === 10 ? 1000 : 1);
  const field = fieldTime(sentence, now);
  if (field !== null) return field;
  const start = sentence.search(WHEN_REGEXP);
  if (start < 0) return null;
  const text = inFigures(sentence.slice(start));
  return isoTime(text, zone) ?? duration(text, now) ?? timeOfDay(text, now, zone);
}

function inFigures(text: string): string {
  return text.replaceAll(/\b(?:an?|one) (?=(?:second|minute|hour|day)\b)/gi, "1 ")
    .replaceAll(/\bmidnight\b/gi, "12:00 am").replaceAll(/\b(?:noon|midday)\b/gi, "12:00 pm");
}

/** The time in a header or a field of an error: seconds if it names no unit, or an instant. */
function fieldTime(sentence: string, now: number): number | null {
  const [, unit, parts, count] = FIELD_REGEXP.exec(sentence) ?? [];
  if (parts !== undefined) return now + sumOfParts(parts);
  if (count === undefined) return null;
  const number = Number(count);
  if (number >= 1e9) return number * (number < 1e12 ? 1000 : 1);
  return now + Math.ceil(number * (unit === undefined ? 1000 : unitOf(unit.toLowerCase())));
}

/** A limit that ends later than this is none that an agent has: a number was misread. */
const FURTHEST_MS = 8 * DAY_MS;

/** A time that can be believed, not before now; else `null`. */
export function saneReset(untilMs: number | null, now: number): number | null {
  return untilMs !== null && untilMs - now < FURTHEST_MS ? Math.max(untilMs, now) : null;
}

function isoTime(text: string, zone: string): number | null {
  const match = ISO_REGEXP.exec(text);
  if (match === null) return null;
  const [, date, time, offset] = match as unknown as [string, string, string, string | undefined];
  const at = Date.parse(`${date}T${time}${offset === undefined || offset === "UTC" ? "Z" : offset}`);
  if (Number.isNaN(at)) return null;
  return offset === undefined ? instantOf(Math.ceil(at / 1000) * 1000, zoneIn(text) ?? zone) : at;
}

function duration(text: string, now: number): number | null {
  const match = DURATION_REGEXP.exec(text);
  if (match !== null) return now + sumOfParts(match[1]!);
  const [, hours, minutes, seconds = "0"] = COUNTDOWN_REGEXP.exec(text) ?? [];
  if (hours === undefined) return null;
  return now + ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
}

function sumOfParts(text: string): number {
  let sum = 0;
  for (const [, count, unit] of text.matchAll(PART_REGEXP)) sum += Number(count) * unitOf(unit!.toLowerCase());
  return Math.ceil(sum);
}

function unitOf(name: string): number {
  if (name === "ms" || name.startsWith("milli")) return UNITS_MS["ms"]!;
  return UNITS_MS[name[0]!]!;
}

/** `5pm (Europe/Vilnius)`, `Nov 22nd, 2026 7:00 AM`, `Mon 9:00 AM`. */
function timeOfDay(text: string, now: number, local: string): number | null {
  const zone = zoneIn(text) ?? local;
  const date = DATE_REGEXP.exec(text);
  const time = TIME_REGEXP.exec(date === null ? text : text.replace(date[0], " "));
  if (time === null && date === null) return null;
  const clock = time === null ? 0 : clockOf(time);
  if (clock === null) return null;
  const today = Math.floor(shownAt(now, zone) / DAY_MS) * DAY_MS;
  const on = (day: number): number => instantOf(day + clock, zone);
  if (date !== null) return onDate(date, new Date(today).getUTCFullYear(), now, on);
  const weekday = WEEKDAY_REGEXP.exec(text)?.[1]?.slice(0, 3).toLowerCase();
  const isTomorrow = weekday === undefined && /\btomorrow\b/i.test(text);
  for (let day = isTomorrow ? today + DAY_MS : today;; day += DAY_MS) {
    const isNamed = weekday === undefined || weekday === WEEKDAYS[new Date(day).getUTCDay()];
    if (isNamed && on(day) >= now - JUST_OVER_MS) return Math.max(on(day), now);
  }
}

function onDate({ groups = {} }: RegExpExecArray, thisYear: number, now: number, on: (day: number) => number): number {
  const { month: name = groups["first"] ?? "", day = groups["second"], year } = groups;
  const month = MONTHS.split("|").indexOf(name.toLowerCase().slice(0, 3));
  const inYear = (one: number): number => on(Date.UTC(one, month, Number(day)));
  if (year !== undefined) return inYear(Number(year));
  return inYear(thisYear) >= now - DAY_MS ? inYear(thisYear) : inYear(thisYear + 1);
}

/** Milliseconds since midnight. */
function clockOf([, hour, minute = "0", half, hour24, minute24]: RegExpExecArray): number | null {
  if (half === undefined) return (Number(hour24) * 60 + Number(minute24)) * 60_000;
  if (Number(hour) < 1 || Number(hour) > 12) return null;
  return ((Number(hour) % 12 + (half.toLowerCase() === "p" ? 12 : 0)) * 60 + Number(minute)) * 60_000;
}

function zoneIn(text: string): string | null {
  const [, sign, hours, minutes = "00"] = OFFSET_REGEXP.exec(text) ?? [];
  if (sign !== undefined) return `UTC${sign}${hours!.padStart(2, "0")}:${minutes}`;
  const match = ZONE_REGEXP.exec(text);
  const name = match?.[1] ?? match?.[2];
  if (name === undefined) return null;
  const zone = ZONES.get(name.toUpperCase()) ?? name;
  const format = orElse(() => new Intl.DateTimeFormat("en-US", { timeZone: zone }), null);
  return format === null ? null : zone; // the runtime does not know every zone
}
