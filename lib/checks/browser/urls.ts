/** A page's address, absolute. */
export interface PageUrl {
  readonly url: string;
  /** As the criterion writes it: `/settings`. */
  readonly written: string;
}

const LOOPBACK_REGEXP = /^(?:localhost|127(?:\.\d+){3}|\[::1\]|0\.0\.0\.0)$/;
const ABSOLUTE_REGEXP = /\bhttps?:\/\/[^\s"'`<>()[\]{}|\\^]+/g;
const HOST_REGEXP = /(?<![\w./:@-])(?:localhost|127\.0\.0\.1|0\.0\.0\.0):\d+(?:\/[^\s"'`<>()[\]{}|\\^]*)?/g;
/** `/settings` at the start of a word, but not in `and/or`, `a / b`, `</div>`. */
const PATH_REGEXP = /(?<![\w/.:<>@\\~$*-])\/(?:[A-Za-z0-9_~%.-][^\s"'`<>()[\]{}|\\^,;]*)?/g;
const VISITS =
  "(?:navigat(?:e|es|ing) to|visit(?:s|ing)?|go(?:es|ing)? to|open(?:s|ing)?|check(?:s|ing)?|verif(?:y|ies|ying)|brows(?:e|es|ing) to|load(?:s|ed|ing)?(?: at)?|accessible (?:at|on|under)|available (?:at|on|under)|reachable (?:at|on|under)|served (?:at|on|under)|shown (?:at|on)|lives at|url|route|page|screen|at|on|under|from)";
const BEFORE_REGEXP = new RegExp(`\\b${VISITS}[:\\s"'\`(]*(?:the\\s+|page\\s+|route\\s+|url\\s+)*["'\`(]*$`, "i");
const BEFORE_ABSOLUTE_REGEXP =
  /\b(?:navigat\w* to|visit\w*|go(?:es|ing)? to|open\w*|brows\w* to|loads? at|accessible (?:at|on|under)|available (?:at|on|under))\s+(?:the\s+\S+\s+)?["'`(<]*$/i;
const METHOD_REGEXP = /\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS)\s*["'`(]*$/;
/** Pages that are meant to fail cannot be looked at for failures. */
const MEANT_TO_FAIL_REGEXP = /\b(?:4\d\d|5\d\d)\b|\bnot[- ]found\b|\bforbidden\b|\bunauthori[sz]ed\b/i;
const FILE_REGEXP =
  /\.(?:[cm]?[jt]sx?|json|ya?ml|toml|css|scss|less|md|mdx|py|rb|go|rs|java|kt|php|sql|sh|env|lock|log|txt|vue|svelte|ico|png|jpe?g|svg|webp|woff2?)$/i;
/** Paths that begin so are files of the system, or of the project. */
const FOLDERS = "usr etc tmp var home Users opt bin dev proc src lib node_modules dist build test tests".split(" ");

/**
 * The pages that acceptance criteria name: absolute URLs of this machine, of a service, or that the text says to visit;
 * and paths below `base`. Paths with a placeholder (`/users/:id`), files, requests with a method (`POST /api`) and pages
 * that are meant to answer with an error are none. Pure.
 *
 * @param base origin that paths belong to, or `null` where there is none
 * @example
 * ```ts
 * import { pageUrls } from "ralph/feature";
 *
 * console.log(pageUrls(["Visit the /settings page"], "http://localhost:3000")[0]?.url); // http://localhost:3000/settings
 * ```
 */
export function pageUrls(criteria: readonly string[], base: string | null): readonly PageUrl[] {
  const found = new Map<string, PageUrl>();
  for (const criterion of criteria) {
    if (MEANT_TO_FAIL_REGEXP.test(criterion.replaceAll(ABSOLUTE_REGEXP, "").replaceAll(HOST_REGEXP, ""))) continue;
    for (const page of pagesOf(criterion, base)) if (!found.has(page.url)) found.set(page.url, page);
  }
  return [...found.values()];
}

function pagesOf(criterion: string, base: string | null): readonly PageUrl[] {
  const local = criterion.replaceAll(ABSOLUTE_REGEXP, blank);
  const absolute = matches(criterion, ABSOLUTE_REGEXP).filter(({ text, before }) => isOurs(text, before, base));
  const hosts = matches(local, HOST_REGEXP).map((match) => ({ ...match, text: `http://${match.text}` }));
  const paths = base === null ? [] : matches(local.replaceAll(HOST_REGEXP, blank), PATH_REGEXP).filter(isPage);
  const found = [...absolute, ...hosts, ...paths].toSorted((one, other) => one.index - other.index);
  return found.flatMap(({ text, written, after }) => {
    if (hasPlaceholder(text, after) || !URL.canParse(text, base ?? undefined)) return []; // may look like one and be none
    const url = new URL(text, base ?? undefined);
    if (url.hostname === "0.0.0.0") url.hostname = "localhost";
    return [{ url: url.href, written }];
  });
}

function matches(text: string, pattern: RegExp) {
  return [...text.matchAll(pattern)].map((match) => {
    const written = match[0].replace(/[.,;:!?*_]+$/, "") || "/";
    const end = match.index + written.length;
    return { text: written, written, index: match.index, before: text.slice(0, match.index), after: text.slice(end) };
  });
}

function isOurs(text: string, before: string, base: string | null): boolean {
  if (!URL.canParse(text)) return false;
  const { hostname, origin } = new URL(text);
  return LOOPBACK_REGEXP.test(hostname) || origin === base || BEFORE_ABSOLUTE_REGEXP.test(before);
}

function isPage({ text, before, after }: ReturnType<typeof matches>[number]): boolean {
  if (METHOD_REGEXP.test(before)) return false;
  const [path = ""] = text.split(/[?#]/);
  if (FILE_REGEXP.test(path) || FOLDERS.includes(path.split("/", 2)[1] ?? "")) return false;
  const quoted = /["'`(]$/.test(before) && /^["'`)]/.test(after);
  // A lone slash is a page only where something says so: `/` or "open /".
  if (text === "/") return quoted || BEFORE_REGEXP.test(before);
  return true;
}

/** `/users/:id`, `/posts/<slug>` (cut off at the bracket), `/files/*`. */
function hasPlaceholder(text: string, after: string): boolean {
  return /\/:[A-Za-z]|\*/.test(text.replace(/^https?:\/\/[^/]+/, "")) || /^[<{[]|^\*(?!\*)/.test(after);
}

function blank(text: string): string {
  return " ".repeat(text.length);
}
