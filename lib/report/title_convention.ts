import type { ChangedFile } from "./changed_files.ts";

const CONVENTIONAL_REGEXP = /^[a-z]+(?:\([^)]*\))?!?: ./;
/** Captures the scope of work; those of releases and updates name no part of a project. */
const SCOPE_REGEXP = /^(?!chore|build|ci)[a-z]+\(([^)]+)\)!?: ./;
const TICKET_REGEXP = /[A-Z][A-Z\d]+-\d+/;
/** Captures the characters around the ticket that a subject begins with. */
const PREFIX_REGEXP = /^(\[?)[A-Z][A-Z\d]+-\d+(\]?:? )/;
/** Subjects that Ralph makes are no convention of a project. */
const OWN_REGEXP = /^ralph: |^\w+: [A-Z]+-\d+ - /;
/** Fewer subjects have no convention. */
const FEWEST = 5;

/** A request's title in the form that two of three subjects of the project have; else as it is. Pure. */
export function conventionalTitle(
  title: string,
  { subjects, branch, files }: {
    /** The newest ones of the base. */
    readonly subjects: readonly string[];
    /** Its name may hold a ticket. */
    readonly branch: string;
    readonly files: readonly Pick<ChangedFile, "path" | "kind">[];
  },
): string {
  const own = subjects.filter((subject) => !OWN_REGEXP.test(subject));
  const have = (regexp: RegExp): readonly string[] => {
    const found = own.filter((subject) => regexp.test(subject));
    return found.length >= FEWEST && found.length * 3 >= own.length * 2 ? found : [];
  };
  if (have(CONVENTIONAL_REGEXP).length > 0 && !CONVENTIONAL_REGEXP.test(title)) {
    const begin = have(/: \p{Lu}/u).length > 0
      ? title
      : title.replace(/^\p{Lu}(?=[\p{Ll}\s])/u, (one) => one.toLowerCase());
    return `${typeOf(title, files)}${scopeOf(own, files)}: ${begin}`;
  }
  const [before = "", after = ""] = PREFIX_REGEXP.exec(have(PREFIX_REGEXP)[0] ?? "")?.slice(1) ?? [];
  const ticket = TICKET_REGEXP.exec(`${title} ${branch}`)?.[0];
  if (after === "" || ticket === undefined || title.includes(ticket)) return title;
  return `${before}${ticket}${after}${title}`;
}

/** By what the goal says, else by what was changed. */
function typeOf(title: string, files: readonly Pick<ChangedFile, "path" | "kind">[]): string {
  if (/^(?:fix|repair|correct)\b/i.test(title)) return "fix";
  if (files.length > 0 && files.every(({ kind }) => kind === "test")) return "test";
  if (files.length > 0 && files.every(({ path }) => /\.(?:md|mdx|rst|adoc)$/.test(path))) return "docs";
  return "feat";
}

/** The project's own scope that names a folder or file on the way to all that was changed of its product; "" is none. */
function scopeOf(subjects: readonly string[], files: readonly Pick<ChangedFile, "path" | "kind">[]): string {
  const product = files.filter(({ kind }) => kind === "product");
  const ways = (product.length > 0 ? product : files).map(({ path }) => new Set(path.split("/").flatMap(namesOf)));
  const scope = subjects.map((subject) => SCOPE_REGEXP.exec(subject)?.[1]?.toLowerCase() ?? "")
    .find((one) => one !== "" && ways.length > 0 && ways.every((way) => way.has(one)));
  return scope === undefined ? "" : `(${scope})`;
}

/** `cli.ts` is also called `cli`. */
function namesOf(part: string): readonly string[] {
  const name = part.toLowerCase();
  return [name, name.replace(/\..*$/, "")];
}
