import { join, resolve } from "node:path";
import type { Invocation } from "../../cli/command.ts";
import { openLook } from "../../cli/look.ts";
import { resolveRoot } from "../../cli/workspace.ts";
import { parseCount } from "../../cli/settings.ts";
import { loadConfig } from "../../config/load.ts";
import { asRalphError, EXIT, RalphError } from "../../errors/ralph_error.ts";
import { isDirectory, PRIVATE_FILE, temporaryDirectory, writeAtomic } from "../../host/files.ts";
import { findExecutable } from "../../host/shell.ts";
import { whenAborted } from "../../host/when_aborted.ts";
import type { RunPart } from "../../report/types.ts";
import { Runs } from "../../web/runs.ts";
import { startServer } from "../../web/serve.ts";
import { resumeCommand, runFolders, WORKFLOWS } from "../../workflows/table.ts";

const TOKEN_LENGTH = 32;
/** How long a browser may take to read where the page is. */
const OPEN_MS = 20_000;

/** `ralph ui`: a page on this machine that shows the runs and changes them. Ends with Ctrl-C. */
export async function run(invocation: Invocation): Promise<number> {
  const { flags, host, out, say, signal } = invocation;
  const port = flags.text("port");
  using runs = new Runs({ host, roots: await rootsOf(invocation), folders: runFolders });
  const token = host.ids.random(TOKEN_LENGTH);
  await using serving = await startServer(
    {
      host,
      runs,
      token,
      resume: resumeCommand,
      openItems: (root, part) => openItems(invocation, root, part),
      review: async (report) => await (await import("../finish/branch_runs.ts")).reviewText(host, report),
    },
    port === undefined ? 0 : parseCount("--port", port, 0),
  );
  out(serving.address);
  say("who has this address can change the runs; Ctrl-C ends the page, and no run");
  const opened = flags.has("open") ? openBrowser(invocation, serving.address) : Promise.resolve();
  await whenAborted(signal);
  await opened;
  return EXIT.done;
}

/** The items of a run's part that are open in its store now; none where it lists none, or cannot be read. */
async function openItems({ flags, host }: Invocation, root: string, { name, scope }: RunPart) {
  const workflow = { name, why: "" };
  const loaded = await loadConfig(root).catch(asRalphError);
  if (RalphError.isInstance(loaded)) return [];
  const look = await openLook({ flags, host, say: () => {} }, { ...loaded, root, workflow }, scope ?? "");
  const views = await WORKFLOWS.find((row) => row.name === name)?.workflow.status(look).catch(asRalphError) ?? [];
  return RalphError.isInstance(views) ? [] : views.flatMap(({ open = [] }) => open);
}

/** @throws {RalphError} root-missing */
async function rootsOf(invocation: Invocation): Promise<readonly string[]> {
  const { flags, host } = invocation;
  const named = flags.all("root").map((root) => resolve(host.environment.cwd, root));
  for (const root of named) if (!await isDirectory(root)) throw new RalphError("root-missing", { details: { root } });
  return named.length > 0 ? [...new Set(named)] : [await resolveRoot(invocation)];
}

/** By a file that only the user can read: an address in a command line could be read by others on this machine. */
async function openBrowser({ host, say, signal }: Invocation, address: string): Promise<void> {
  const { environment, clock, processes } = host;
  const names = environment.platform === "darwin" ? ["open"] : ["xdg-open", "wslview"];
  const found = await Promise.all(names.map((name) => findExecutable(name, environment, environment.cwd)));
  const program = found.find((path) => path !== null);
  if (program === undefined) return say("no program was found that opens a browser: open the address yourself");
  await using folder = await temporaryDirectory("ralph-ui-");
  const file = join(folder.path, "open.html");
  const page =
    `<!doctype html><meta charset="utf-8"><title>ralph</title><meta http-equiv="refresh" content="0;url=${address}">`;
  await writeAtomic(file, page, { mode: PRIVATE_FILE });
  await processes.run({
    file: program,
    arguments: [file],
    cwd: folder.path,
    timeoutMs: OPEN_MS,
    signal,
    guarded: false,
  });
  await clock.sleep(OPEN_MS, signal);
}
