/**
 * Consent to a configuration that came with a repository: its commands, and what opens the sandbox.
 *
 * @module
 */
import { basename, dirname, relative } from "node:path";
import { defaultConfig } from "../config/defaults.ts";
import type { Config } from "../config/load.ts";
import type { Prompter } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { openRepository } from "../git/open_repository.ts";
import { isObject, words } from "../host/data.ts";
import { realPath } from "../host/file_state.ts";
import { hashText } from "../host/files.ts";
import { type Content, remember, untrusted } from "../recipe/trust.ts";
import { oneLine } from "../ui/text.ts";
import type { Invocation } from "./command.ts";
import type { Place } from "./workspace.ts";

/** The keys that run commands, name servers that get code, or open the sandbox. */
const KEYS = words(`
  provider.command provider.args provider.interactiveArgs provider.endpoint provider.fallback provider.route
  verify.default verify.ui workspace.setup services hooks notify browser.executablePath tracker.url sandbox
`);
const MOST_LINES = 9;

/** A key of a configuration that is not as by default. */
interface Part extends Content {
  readonly key: string;
  readonly value: string;
}

/**
 * Asks about what came with the repository, once for each content. Commands run where nobody can be asked: the script
 * that calls Ralph has said yes. The keys that open the sandbox do not hold there.
 *
 * @param prompter `null`: nobody is asked
 * @returns the settings of the sandbox that hold instead of the configuration's
 * @throws {RalphError} config-untrusted for a no
 */
export async function agreedSandbox(
  { flags, host, say }: Invocation,
  place: Place,
  prompter: Prompter | null,
): Promise<Partial<Config["sandbox"]>> {
  const parts = await unagreed(host, place);
  const path = relative(place.root, place.file ?? "");
  if (parts.length > 0 && prompter?.interactive === true && host.terminal.interactive) {
    const lines = parts.map(({ key, value }) => oneLine(`${key}: ${value}`));
    const { value } = await prompter.ask({
      id: "config.trust",
      kind: "confirm",
      message: "Work with this configuration?",
      details: [
        `${path} came with the repository; on this machine nobody has agreed to ${parts.length} of its settings:`,
        ...lines.length > MOST_LINES ? [lines.slice(0, MOST_LINES).join("; ")] : lines,
      ],
      initial: false,
    });
    if (value !== "yes") throw new RalphError("config-untrusted", { details: { path } });
    await remember({ host, root: place.root }, parts);
  } else if (parts.some(({ key }) => key === "sandbox") && !flags.has("no-sandbox")) {
    say(
      `warning: \`sandbox\` of ${path} came with the repository and is not obeyed as far as it opens the sandbox: ` +
        "`ralph run` in a terminal asks about it, `--no-sandbox` confines nothing",
    );
    return closed(place.config.sandbox);
  }
  return {};
}

/** The sandbox as by default, or stricter. */
function closed({ mode }: Config["sandbox"]): Config["sandbox"] {
  const { sandbox } = defaultConfig();
  return { ...sandbox, mode: mode === "off" ? sandbox.mode : mode };
}

/** The parts that came with the repository and were not agreed to. Others are the person's own, and are remembered. */
export async function unagreed(host: Invocation["host"], place: Omit<Place, "workflow">): Promise<readonly Part[]> {
  const { config, file, root } = place;
  const { CI } = host.environment.variables; // there the pipeline is the repository's own
  if (file === null || (CI ?? "false") !== "false") return [];
  const asked = await untrusted({ host, root }, partsOf(config, file));
  const came = asked.length === 0 ? [] : await committed(host, file);
  const isOwn = ({ key, value }: Part): boolean => !came.some((one) => one.key === key && one.value === value);
  await remember({ host, root }, asked.filter(isOwn)).catch(() => {}); // it is found out anew each time
  return asked.filter((part) => !isOwn(part));
}

function partsOf(config: Config, file: string): readonly Part[] {
  const plain = { ...defaultConfig(), sandbox: closed(config.sandbox) };
  return KEYS.flatMap((key) => {
    const value = valueAt(config, key);
    return value === valueAt(plain, key) ? [] : [{ key, value, path: `${file}#${key}`, sha256: hashText(value) }];
  });
}

function valueAt(config: Config, key: string): string {
  const read = (value: unknown, name: string): unknown => isObject(value) ? value[name] : undefined;
  return JSON.stringify(key.split(".").reduce(read, config)) ?? "";
}

/** The parts as HEAD has them, once checked out: git may change a file on the way. */
async function committed(host: Invocation["host"], file: string): Promise<readonly Part[]> {
  const path = realPath(file);
  const repository = await openRepository(host, dirname(path));
  const head = await repository?.git(["-C", dirname(path), "cat-file", "--filters", `HEAD:./${basename(path)}`]);
  if (head?.exitCode !== 0) return [];
  const { readConfigText } = await import("../config/read_text.ts");
  const { config } = readConfigText(head.stdout);
  return config === null ? [] : partsOf(config, file);
}
