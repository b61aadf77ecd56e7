/**
 * Between a clock on a wall somewhere and an instant, by the runtime's own table of time zones. Pure.
 *
 * @module
 */

/** The time that a clock and a calendar show. */
export interface WallTime {
  readonly year: number;
  /** From 1. */
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
}

/** `UTC+02:00`: always so far from UTC. */
const FIXED_REGEXP = /^UTC([+-])(\d\d):(\d\d)$/;

/** Tells whether the runtime knows the zone. */
export function isTimeZone(zone: string): boolean {
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: zone });
    return true;
  } catch {
    return false;
  }
}

/** The time of clocks in the zone (of the runtime's table, or `UTC+02:00`) at an instant (milliseconds since 1970). */
export function partsAt(instant: number, zone: string): WallTime {
  const fixed = FIXED_REGEXP.exec(zone);
  if (fixed !== null) {
    const minutes = Number(fixed[2]) * 60 + Number(fixed[3]);
    return partsAt(instant + (fixed[1] === "-" ? -minutes : minutes) * 60_000, "UTC");
  }
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const parts = new Map(format.formatToParts(instant).map(({ type, value }) => [type, Number(value)]));
  const part = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  return { year: part("year"), month: part("month"), day: part("day"), hour: part("hour"), minute: part("minute") };
}

/** The instant at which clocks in the zone show this time; where they never do, the one at which they would have. */
export function instantOf(time: WallTime, zone: string): number {
  const wanted = asUtc(time);
  // Twice: the first guess may be on the other side of a change of the clocks.
  let instant = wanted - offsetAt(wanted, zone);
  instant = wanted - offsetAt(instant, zone);
  return instant;
}

function offsetAt(instant: number, zone: string): number {
  const minute = Math.floor(instant / 60_000) * 60_000;
  return asUtc(partsAt(minute, zone)) - minute;
}

function asUtc({ year, month, day, hour, minute }: WallTime): number {
  return Date.UTC(year, month - 1, day, hour, minute);
}
