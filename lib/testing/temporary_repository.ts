import { join } from "node:path";
import { createHost } from "../host/create_host.ts";
import { readText, resolveInside, temporaryDirectory, writeAtomic } from "../host/files.ts";
import { createGit, outputOfGit } from "../git/run_git.ts";

/** The content of a temporary repository. */
export interface TemporaryRepositoryOptions {
  /** Path to content; a path that ends in `.sh` may be run. */
  readonly files?: Readonly<Record<string, string>>;
  /** Commit the files. @default true */
  readonly commit?: boolean;
  /** Give it a bare remote `origin`, with what was committed. @default false */
  readonly remote?: boolean;
}

/** A real git repository in a temporary folder, taken away when disposed. */
export interface TemporaryRepository extends AsyncDisposable {
  /** Absolute path. */
  readonly path: string;
  /** Runs git there. @returns what it printed @throws {RalphError} git-failed */
  git(...arguments_: readonly string[]): Promise<string>;
  /** Text of a file, or `null`. */
  read(path: string): Promise<string | null>;
  write(files: Readonly<Record<string, string>>): Promise<void>;
}

/**
 * Makes a git repository with an identity of its own, on the branch `main`.
 *
 * @throws {RalphError} git-failed
 *
 * @example A repository with one file
 * ```ts
 * import { temporaryRepository } from "ralph/testing";
 *
 * await using repository = await temporaryRepository({ files: { "a.txt": "a\n" } });
 * console.log(await repository.git("ls-files")); // a.txt
 * ```
 */
export async function temporaryRepository(options: TemporaryRepositoryOptions = {}): Promise<TemporaryRepository> {
  const host = createHost();
  const folder = await temporaryDirectory("ralph-test-");
  const repository: TemporaryRepository = {
    path: folder.path,
    async git(...arguments_: readonly string[]): Promise<string> {
      return (await outputOfGit(createGit(host, folder.path), arguments_, { environment: {} })).trimEnd();
    },
    read: (path: string) => readText(join(folder.path, path)),
    async write(files: Readonly<Record<string, string>>): Promise<void> {
      for (const [path, content] of Object.entries(files)) {
        const mode = path.endsWith(".sh") ? { mode: 0o755 } : {};
        await writeAtomic(await resolveInside(folder.path, path), content, mode);
      }
    },
    async [Symbol.asyncDispose](): Promise<void> {
      await host.processes[Symbol.asyncDispose]();
      await folder[Symbol.asyncDispose]();
    },
  };
  try {
    await setUp(repository, options);
  } catch (error) {
    await repository[Symbol.asyncDispose]();
    throw error;
  }
  return repository;
}

const SETTINGS = `[user]
	name = Test
	email = test@example.com
[commit]
	gpgsign = false
[core]
	hooksPath = .git/hooks
`;

async function setUp({ git, path, write }: TemporaryRepository, options: TemporaryRepositoryOptions): Promise<void> {
  await git("init", "--quiet", "--initial-branch=main");
  const config = join(path, ".git", "config");
  await writeAtomic(config, `${await readText(config)}${SETTINGS}`);
  await write(options.files ?? {});
  if (options.commit === false) return;
  await git("add", "--all");
  await git("-c", "maintenance.auto=false", "commit", "--quiet", "--allow-empty", "--message", "start");
  if (options.remote !== true) return;
  const remote = join(path, ".git", "remote.git");
  await git("init", "--quiet", "--bare", "--initial-branch=main", remote);
  await git("remote", "add", "origin", remote);
  await git("push", "--quiet", "origin", "main");
}
