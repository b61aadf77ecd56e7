declare const RALPH_VERSION: string | undefined;

/** Ralph's version. The build of the binary defines it; the manifests' check holds this one equal to theirs. */
export const VERSION: string = typeof RALPH_VERSION === "string" ? RALPH_VERSION : "0.2.0";
