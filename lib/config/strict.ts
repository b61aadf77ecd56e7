import { RalphError } from "../errors/ralph_error.ts";
import type { Config } from "../generated/config.ts";

/** Tells whether a mode confines all that runs the project's code, and by the whole policy. */
export function isWholly({ mode }: Pick<Config["sandbox"], "mode">): boolean {
  return mode === "on" || mode === "required";
}

/**
 * The configuration as `trust: "strict"` wants it: tests that change fail the attempt, everything is checked as a
 * commit, no claim settles an item, and a sandbox is required unless it is declined (`--no-sandbox`).
 *
 * @throws {RalphError} config-invalid where the configuration asks for the opposite
 */
export function strictConfig(config: Config): Config {
  if (config.trust !== "strict") return config;
  const problems = [
    ...(config.verify.allowUnverified ? ["verify.allowUnverified (--allow-unverified) settles items by a claim"] : []),
    ...(config.verify.final === "clean" ? [] : [`verify.final is "${config.verify.final}"`]),
  ];
  if (problems.length > 0) {
    throw new RalphError("config-invalid", {
      details: { path: 'trust: "strict"', problem: problems.join("; ") },
      hint: "leave one of the two out",
    });
  }
  const { sandbox } = config;
  return {
    ...config,
    tests: { ...config.tests, integrity: "block" },
    sandbox: ["auto", "light"].includes(sandbox.mode) ? { ...sandbox, mode: "required" } : sandbox,
  };
}
