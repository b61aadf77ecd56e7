import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";
import type { Host, ProcessRequest } from "../../lib/host/types.ts";
import { openRepository } from "../../lib/git/open_repository.ts";
import type { Repository } from "../../lib/git/repository.ts";
import { makeRepository, writeFiles } from "../repository.ts";

/** A real repository in a temporary folder. */
export interface TemporaryRepository extends AsyncDisposable {
  readonly path: string;
  readonly repository: Repository;
  /** The git commands that the repository has started, without their paths. */
  readonly commands: string[];
  /** Milliseconds that the repository has slept; the sleeps themselves take none. */
  readonly slept: () => number;
  /** Writes files by path. */
  write(files: Readonly<Record<string, string>>): void;
  /** Runs git by hand; gives what it printed. */
  git(...arguments_: string[]): string;
}

/** `git init` with an identity, and these files in a first commit (none without files). */
export async function temporaryRepository(
  files?: Readonly<Record<string, string>>,
  environment: Readonly<Record<string, string | undefined>> = {},
): Promise<TemporaryRepository> {
  const folder = await temporaryDirectory("ralph-git-");
  const commands: string[] = [];

  const git = makeRepository(folder.path, {
    files: files ?? {},
    commit: files === undefined ? null : "first",
    person: { name: "A Person", email: "person@example.com" },
  });
  let slept = 0;
  const host = recordingHost(commands, environment);
  const clock = {
    ...host.clock,
    async sleep(ms: number): Promise<void> {
      slept += ms;
      await host.clock.sleep(1);
    },
  };
  const repository = (await openRepository({ ...host, clock }, folder.path))!;
  commands.length = 0;
  return {
    path: folder.path,
    repository,
    commands,
    slept: () => slept,
    write: (content) => writeFiles(folder.path, content),
    git,
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

/** A real host that notes which git commands it runs. */
export function recordingHost(
  commands: string[],
  environment: Readonly<Record<string, string | undefined>> = {},
): Host {
  const host = createHost();
  const run = (request: ProcessRequest): ReturnType<Host["processes"]["run"]> => {
    commands.push(request.arguments.find((argument) => /^[a-z][a-z-]+$/.test(argument))!);
    return host.processes.run({ ...request, environment: { ...environment, ...request.environment } });
  };
  return { ...host, processes: { ...host.processes, run } };
}
