import type { Host } from "./types.ts";

/** The local calendar day of an instant as `YYYY-MM-DD`; such texts compare as the days do. */
export function localDate(milliseconds: number): string {
  const date = new Date(milliseconds);
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${String(date.getFullYear()).padStart(4, "0")}-${month}-${day}`;
}

/** True for a day that the calendar has. */
export function isCalendarDay(text: string): boolean {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
  if (match === null) return false;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  const days = [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
  return day >= 1 && day <= (days[month - 1] ?? 0);
}

/** An instant as the clock here shows it, `2026-11-22 07:00:15`: an ISO time or milliseconds; another text as it is. */
export function localTime(at: string | number): string {
  const date = new Date(at);
  if (Number.isNaN(date.getTime())) return String(at);
  const two = (part: number): string => String(part).padStart(2, "0");
  return `${localDate(date.getTime())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

/** Now, as files have it: ISO 8601. */
export function isoNow({ clock }: Pick<Host, "clock">): string {
  return new Date(clock.now()).toISOString();
}
