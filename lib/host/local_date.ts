import type { Host } from "./types.ts";

/** The local calendar day of an instant as `YYYY-MM-DD`; such texts compare as the days do. */
export function localDate(milliseconds: number): string {
  const date = new Date(milliseconds);
  const [month, day] = [date.getMonth() + 1, date.getDate()].map((part) => String(part).padStart(2, "0"));
  return `${String(date.getFullYear()).padStart(4, "0")}-${month}-${day}`;
}

/** True for a day that the calendar has. */
export function isCalendarDay(text: string): boolean {
  if (!/^\d{4}-\d{2}-\d{2}$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`); // a day too late is of the next month, or no date
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
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
