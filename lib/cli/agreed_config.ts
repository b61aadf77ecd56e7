/**
 * Consent to a configuration: its commands, and what opens the sandbox. Only what Ralph wrote, and what a person agreed
 * to once it was shown in full, is agreed to.
 *
 * @module
 */
import { relative } from "node:path";
import { defaultConfig } from "../config/defaults.ts";
import { type Config, findConfig } from "../config/load.ts";
import type { Prompter } from "../context/context.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { isObject, words } from "../host/data.ts";
import { hashText, pathExists } from "../host/files.ts";
import { type Content, remember, untrusted } from "../recipe/trust.ts";
import type { Invocation } from "./command.ts";
import type { Place } from "./workspace.ts";

/** The keys that run commands, name servers, paths outside of the tree or where code goes, or open the sandbox, last. */
const KEYS = words(`
  provider.command provider.args provider.interactiveArgs provider.endpoint provider.fallback provider.route
  verify.default verify.ui workspace.setup services hooks notify browser.executablePath browser.screenshotDir
  parallel.directory attest.key protect tracker.project tracker.remote tracker.url sandbox
`);
/** Whoever goes back and forth between branches is not asked at each. */
const CONTENTS_OF_A_KEY = 20;
/** Characters that cannot be seen, or turn what can. */
const HIDDEN_REGEXP = /(?! )[\p{C}\p{Z}]/gu;

/** A key of a configuration that is not as by default. */
interface Part extends Content {
  readonly key: string;
  readonly value: string;
}

/**
 * Asks about the settings that neither a person agreed to nor Ralph wrote, once for each content. Commands run where
 * nobody can be asked: the script that calls Ralph has said yes. The keys that open the sandbox do not hold there.
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
    const { value, source } = await prompter.ask({
      id: "config.trust",
      kind: "confirm",
      message: "Work with this configuration?",
      details: [
        `Ralph has not worked with these settings of ${path} here:`,
        ...parts.map(({ key, value }) => `${key}: ${value.replaceAll(HIDDEN_REGEXP, escaped)}`),
      ],
      initial: false,
    });
    // an answer given beforehand has seen nothing
    if (value !== "yes" || source === "answers") throw new RalphError("config-untrusted", { details: { path } });
    await remember({ host, root: place.root }, parts, CONTENTS_OF_A_KEY);
  } else if (parts.some(({ key }) => key === "sandbox") && !flags.has("no-sandbox")) {
    say(
      `warning: nobody has agreed to \`sandbox\` of ${path} here: it is not obeyed as far as it opens the sandbox; ` +
        "`ralph verify` in a terminal asks about it, `CI=1` obeys it, `--no-sandbox` confines nothing",
    );
    return closed(place.config.sandbox);
  }
  return {};
}

/** Has Ralph write a configuration: each setting that it adds is agreed to, unless an earlier value of it was not. */
export async function agreeToWritten(
  host: Invocation["host"],
  root: string,
  file: string,
  write: () => Promise<void>,
): Promise<void> {
  const read = async (): Promise<readonly Part[]> => {
    const { config } = await findConfig(root, await pathExists(file) ? file : undefined);
    return config === null ? [] : await unagreed(host, { root, file, config });
  };
  const before = await read();
  await write();
  const written = (await read()).filter(({ key }) => !before.some((one) => one.key === key));
  await remember({ host, root }, written, CONTENTS_OF_A_KEY).catch(() => {}); // a person is asked
}

/** The sandbox as by default, or stricter. */
function closed({ mode }: Config["sandbox"]): Config["sandbox"] {
  const { sandbox } = defaultConfig();
  return { ...sandbox, mode: mode === "off" ? sandbox.mode : mode };
}

async function unagreed(
  host: Invocation["host"],
  { config, file, root }: Pick<Place, "config" | "file" | "root">,
): Promise<readonly Part[]> {
  const { CI } = host.environment.variables; // there the pipeline is the repository's own
  if (file === null || !["", "0", "false"].includes(CI ?? "")) return [];
  return await untrusted({ host, root }, partsOf(config, file));
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

/** As JSON spells them. */
function escaped(characters: string): string {
  return characters.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("");
}
