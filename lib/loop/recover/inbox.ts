import { mapTexts } from "../../host/data.ts";
import { type ClaimLine, createInbox } from "../../backlog/claims.ts";
import type { Backlog } from "../../backlog/types.ts";
import { ownFiles, type RalphContext } from "../../context/context.ts";
import { redactorFor } from "../../events/redact.ts";

/**
 * Between two turns: hands the backlog what commands outside of a turn added meanwhile.
 *
 * @returns how many lines there were
 */
export async function receiveInbox(
  ralph: Pick<RalphContext, "host" | "repository" | "root">,
  backlog: Pick<Backlog, "receive" | "stateFiles">,
): Promise<number> {
  if (backlog.receive === undefined) return 0;
  const { directory } = ownFiles(ralph.repository, ralph.root);
  const inbox = createInbox({ root: ralph.root, directory, host: ralph.host });
  let received = 0;
  for (const file of backlog.stateFiles) {
    await inbox.take(file, async (claims) => {
      received += claims.length;
      await backlog.receive?.(maskedClaims(ralph, claims));
    });
  }
  return received;
}

/** Requests of agents and hooks go into state, which is committed: secrets are masked in it, but never in a command. */
export function maskedClaims({ host }: Pick<RalphContext, "host">, claims: readonly ClaimLine[]): readonly ClaimLine[] {
  if (claims.length === 0) return claims;
  const redactor = redactorFor(host.environment.variables);
  const masked = (text: string): string =>
    text.split(/(`[^`]*`)/).map((part, index) => index % 2 === 1 ? part : redactor.text(part)).join("");
  return claims.map((claim) => mapTexts(claim, masked) as ClaimLine);
}
