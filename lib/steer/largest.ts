/** A request is read up to this size: a told text has room, a flood has not. */
export const LARGEST: number = 64 * 1024;
