/**
 * Between a clock on a wall somewhere and an instant, by the runtime's own table of time zones. Pure.
 *
 * @module
 */
/** `UTC+02:00`: always so far from UTC. */
const FIXED_REGEXP = /^UTC([+-])(\d\d):(\d\d)$/;

/**
 * The time that clocks in the zone (of the runtime's table, or `UTC+02:00`) show at an instant, to the minute: as the
 * instant at which clocks in UTC show it, so that a `Date` takes it apart.
 */
export function shownAt(instant: number, zone: string): number {
  const [, sign, hours, minutes] = FIXED_REGEXP.exec(zone) ?? [];
  if (sign !== undefined) return instant + Number(`${sign}1`) * (Number(hours) * 60 + Number(minutes)) * 60_000;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
  });
  const parts = format.formatToParts(instant).map(({ type, value }) => [type, Number(value)] as const);
  const { year = 0, month = 0, day = 0, hour = 0, minute = 0 } = Object.fromEntries(parts);
  return Date.UTC(year, month - 1, day, hour, minute);
}

/** The instant at which clocks in the zone show this time; where they never do, the one at which they would have. */
export function instantOf(shown: number, zone: string): number {
  const offsetAt = (instant: number): number => {
    const minute = Math.floor(instant / 60_000) * 60_000;
    return shownAt(minute, zone) - minute;
  };
  return shown - offsetAt(shown - offsetAt(shown)); // the first guess may be on the other side of a change of the clocks
}
