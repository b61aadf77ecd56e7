/** True for the super-user, as whom Chromium refuses its own sandbox. */
export function isSuperUser(): boolean {
  return process.getuid?.() === 0;
}
