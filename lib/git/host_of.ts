/** `github.com` of `git@github.com:a/b.git` and `https://github.com/a/b`; `null` for a folder. */
export function hostOf(url: string): string | null {
  const found = /^[a-z+]+:\/\/(?:[^@/]*@)?\[?([^/:\]]+)/i.exec(url) ??
    /^(?:[^@/\s]+@)?([^/:\s]+\.[^/:\s]+):(?!\/\/)/.exec(url);
  return url.startsWith("file:") ? null : found?.[1]?.toLowerCase() ?? null;
}

/** An address, or a setting that holds one, as it is shown: without a login or a token in it. Pure. */
export function addressText(address: string): string {
  return address.replaceAll(/(https?:\/\/)[^/@\s]+@/gi, "$1").replaceAll(/\p{Cc}/gu, "?");
}
