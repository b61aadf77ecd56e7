const TEMPORARY_REGEXP = /^\..+\.(\d+)-[0-9a-f]{8}\.ralph-tmp$/;

/** The name of a temporary file beside `name`. It carries this process's pid, by which a leftover is recognised. */
export function temporaryName(name: string): string {
  return `.${name.slice(0, 200)}.${process.pid}-${randomHex()}.ralph-tmp`;
}

function randomHex(): string {
  return crypto.getRandomValues(new Uint32Array(1))[0]!.toString(16).padStart(8, "0");
}

/** True for a name that `temporaryName()` made, in this process or another. */
export function isTemporaryName(name: string): boolean {
  return TEMPORARY_REGEXP.test(name);
}

/** Pid of the process that made a temporary name. */
export function temporaryOwner(name: string): number {
  return Number(TEMPORARY_REGEXP.exec(name)?.[1]);
}
