import { hostOf } from "../git/host_of.ts";
import { requireRepository, type RootedRepository } from "../git/repository.ts";
import type { Host } from "../host/types.ts";
import type { GateReport } from "../report/types.ts";
import { firstLine } from "../report/texts.ts";
import { remoteOf } from "./finish/finish_plan.ts";
import { forgeOf } from "./finish/make_request.ts";

const TIMEOUT_MS = 60_000;
/** GitHub takes no more. */
const MOST_CHARACTERS = 140;

/**
 * Sets the verdict as the status `ralph` of the judged commit, by the program of the remote's forge.
 *
 * @returns what was done, or why not
 */
export async function setStatus(
  { processes }: Pick<Host, "processes">,
  rooted: RootedRepository,
  { status, base, head, reasons }: GateReport,
): Promise<string> {
  const repository = requireRepository(rooted);
  const unset = (why: string): string => `no status was set: ${why}`;
  if (status === "aborted") return unset("there is no verdict");
  const known = head !== null &&
    (await repository.git(["for-each-ref", "--count=1", "--contains", head])).stdout !== "";
  if (!known) return unset("the judged work is on no branch");
  const remote = await remoteOf(repository, (await repository.status()).branch ?? "");
  const [, path] = /^(?:[a-z+]+:\/\/[^/]+\/|[^:]+:)(.+?)(?:\.git)?\/?$/i.exec(remote?.url ?? "") ?? [];
  const forge = remote === null || path === undefined ? null : await forgeOf({ processes }, rooted.root, remote.url);
  if (remote === null || path === undefined || forge === null) {
    return unset("no remote is at a forge whose program is here");
  }
  const { program } = forge;
  const [project, failed] = program === "gh"
    ? [`repos/${path}`, "failure"]
    : [`projects/${encodeURIComponent(path)}`, "failed"];
  const text = firstLine(reasons[0] ?? `${status} since ${base.slice(0, 12)}`).slice(0, MOST_CHARACTERS);
  const fields = { state: status === "passed" ? "success" : failed, context: "ralph", description: text };
  const end = await processes.run({
    file: program,
    arguments: [
      "api",
      `${project}/statuses/${head}`,
      "--method=POST",
      `--hostname=${hostOf(remote.url)}`,
      ...Object.entries(fields).map(([name, value]) => `--raw-field=${name}=${value}`),
    ],
    cwd: rooted.root,
    environment: { GH_PROMPT_DISABLED: "1", NO_PROMPT: "1", NO_COLOR: "1" },
    timeoutMs: TIMEOUT_MS,
  });
  if (end.exitCode === 0) return `status \`ralph\` of ${head.slice(0, 12)}: ${fields.state}`;
  return unset(`${program}: ${firstLine(end.stderr.trim()) || end.reason}`);
}
