import type { Invocation } from "../../cli/command.ts";
import { usage } from "../../cli/parse.ts";
import { openSession } from "../../cli/session.ts";
import { EXIT } from "../../errors/exit_codes.ts";
import { requireRepository } from "../../git/repository.ts";
import { gate } from "../../recipe/gate.ts";
import { formatSize } from "../../ui/format_size.ts";
import { STORED, storedFor } from "../stored.ts";

/** `ralph clean [cache|aside|refs]`: shows what Ralph keeps of this project, and removes it after a yes. */
export async function run(invocation: Invocation): Promise<number> {
  const { arguments: [kind], out, host } = invocation;
  if (kind !== undefined && !STORED.some((known) => known === kind)) {
    throw usage(
      `\`ralph clean\` knows no ${kind}`,
      `\`ralph clean\` removes all, \`ralph clean ${STORED[0]}\` one kind`,
    );
  }
  await using session = await openSession(invocation, { asks: true, gates: ["clean"] });
  const { ralph } = session;
  await using _lock = await ralph.lock.acquire("clean");
  const all = await storedFor({ host, repository: requireRepository(ralph) });
  const stored = all.filter((one) => kind === undefined || one.kind === kind);
  if (stored.length === 0) {
    out("Ralph keeps nothing of this project");
    return EXIT.done;
  }
  const lines = stored.map(({ name, what, bytes }) =>
    `${name}  ${bytes === null ? "" : `${formatSize(bytes)}  `}${what}`
  );
  ralph.events.emit({ type: "text", title: "Kept of this project", lines });
  const bytes = stored.reduce((sum, one) => sum + (one.bytes ?? 0), 0);
  const message = `Remove ${stored.length === 1 ? "it" : `all ${stored.length}`} (${formatSize(bytes)})?`;
  const { status } = await gate(ralph, { name: "clean", message, next: ["ralph clean --approve clean"] });
  if (status === "aborted") return EXIT.interrupted;
  if (status === "declined") return ralph.prompter.interactive ? EXIT.done : EXIT.blocked;
  for (const one of stored) {
    out(await one.remove() ? `removed ${one.name}` : `in use, so it stays: ${one.name}`);
  }
  return EXIT.done;
}
