import { type Git, gitFailed, outputOfGit, READING } from "./run_git.ts";

/**
 * Cuts the output of `git cat-file --batch` into contents; `null` for what is missing.
 *
 * @param maxBytes how much of each content is kept, from its start
 */
export function createBatchReader(
  give: (content: Buffer | null) => void,
  maxBytes: number = Infinity,
): (chunk: Buffer) => void {
  let header: Buffer[] = [];
  let body: Buffer | null = null;
  let length = 0; // with the line feed behind it
  let filled = 0;
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) {
      if (body === null) {
        const feed = chunk.indexOf(0x0a, at);
        header.push(chunk.subarray(at, feed < 0 ? chunk.length : feed));
        if (feed < 0) return;
        at = feed + 1;
        const size = / blob (\d+)$/.exec(Buffer.concat(header).toString("utf8"))?.[1];
        header = [];
        if (size === undefined) give(null);
        else if (chunk.length - at > Number(size)) { // all of it is here: it need not be copied
          give(chunk.subarray(at, at + Math.min(Number(size), maxBytes)));
          at += Number(size) + 1;
        } else {
          length = Number(size) + 1;
          body = Buffer.allocUnsafe(Math.min(Number(size), maxBytes));
        }
        filled = 0;
      } else {
        const count = Math.min(chunk.length - at, length - filled);
        if (filled < body.length) chunk.copy(body, filled, at, at + count);
        filled += count;
        at += count;
        if (filled < length) continue;
        give(body);
        body = null;
      }
    }
  };
}

/** The text of these files in a commit, in one process; `null` for one that is not there. At most `maxBytes` of each. */
export async function contentsAt(
  git: Git,
  commit: string,
  paths: readonly string[],
  maxBytes: number,
): Promise<ReadonlyMap<string, string | null>> {
  const asked = paths.filter((path) => !path.includes("\n")); // a request is a line
  const found = await contentsOf(git, asked.map((path) => `${commit}:${path}`), maxBytes);
  return new Map(asked.map((path) => [path, found.get(`${commit}:${path}`) ?? null]));
}

/** The text of these objects by their names, in one process; `null` for one that is not there. At most `maxBytes` of each. */
export async function contentsOf(
  git: Git,
  names: readonly string[],
  maxBytes: number = Infinity,
): Promise<ReadonlyMap<string, string | null>> {
  const asked = [...new Set(names)];
  const contents = new Map<string, string | null>();
  if (asked.length === 0) return contents;
  const onOutput = createBatchReader((content) => {
    contents.set(asked[contents.size] ?? "", content?.toString("utf8") ?? null);
  }, maxBytes);
  const arguments_ = ["cat-file", "--batch"];
  const input = asked.map((name) => `${name}\n`).join("");
  await outputOfGit(git, arguments_, { environment: READING, input, onOutput });
  if (contents.size === asked.length) return contents;
  throw gitFailed(arguments_, `${contents.size} of ${asked.length} files were read`);
}
