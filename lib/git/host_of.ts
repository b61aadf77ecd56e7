/** `github.com` of `git@github.com:a/b.git` and `https://github.com/a/b`; `null` for a folder. */
export function hostOf(url: string): string | null {
  const found = /^[a-z+]+:\/\/(?:[^@/]*@)?\[?([^/:\]]+)/i.exec(url) ??
    /^(?:[^@/\s]+@)?([^/:\s]+\.[^/:\s]+):(?!\/\/)/.exec(url);
  return url.startsWith("file:") ? null : found?.[1]?.toLowerCase() ?? null;
}
