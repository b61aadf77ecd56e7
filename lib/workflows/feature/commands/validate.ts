import { resolve } from "node:path";
import { parseJson } from "../../../backlog/json_syntax.ts";
import { type FeatureDirectory, listFeatures, matchFeature } from "../directories.ts";
import { withDefaults } from "../format.ts";
import { storyCommandsOf } from "../story_checks.ts";
import { validateFeaturePrd } from "../validate.ts";
import type { FeaturePrd } from "../types.ts";
import { CONFIG_FILE, loadConfig } from "../../../config/load.ts";
import type { Config } from "../../../config/types.ts";
import { RalphError } from "../../../errors/ralph_error.ts";
import { pathExists, readText } from "../../../host/files.ts";
import { join } from "node:path";
import { isPlaceholder } from "../../../cli/placeholder.ts";
import type { ValidatedFile } from "../../../program/validate_files.ts";

/** Every problem of the configuration and of a feature's PRD, or of all features' where none is named. */
export async function validateFeature(
  root: string,
  name: string,
  named: { readonly cwd: string; readonly config?: string | undefined },
): Promise<readonly ValidatedFile[]> {
  const { file, config } = await validateConfig(
    root,
    named.config === undefined ? undefined : resolve(named.cwd, named.config),
  );
  const features = await listFeatures(root);
  const match = name === "" ? null : matchFeature(features, name);
  if (name !== "" && match === null) {
    const there = features.length === 0
      ? "`.ralph/` holds none"
      : `there are: ${features.map((one) => one.name).join(", ")}`;
    throw new RalphError("feature-missing", {
      details: { name, problem: there, hint: `\`ralph prd ${name}\` begins it` },
    });
  }
  const chosen = match === null ? features : [match];
  return [file, ...await Promise.all(chosen.map((feature) => validatePrd(root, feature, config)))];
}

async function validateConfig(
  root: string,
  named: string | undefined,
): Promise<{ readonly file: ValidatedFile; readonly config: Config | null }> {
  const path = named ?? CONFIG_FILE;
  const present = await pathExists(named ?? join(root, CONFIG_FILE));
  if (!present) {
    return {
      file: { path, present, problems: ["ralph.config.json not found: run `ralph init` to create one"], warnings: [] },
      config: null,
    };
  }
  try {
    const { config, warnings } = await loadConfig(root, named);
    const { provider, verify } = config;
    const commands = [...verify.default, ...verify.ui];
    const problems = [
      ...(provider.command === undefined && provider.preset === undefined ? ["provider.command is required"] : []),
      ...(verify.default.length === 0 ? ["verify.default must have at least one command"] : []),
      ...commands.filter(isPlaceholder).map((command) =>
        `verify: \`${command}\` checks nothing: name a command that can fail`
      ),
    ];
    return { file: { path, present, problems, warnings }, config };
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    const problem = error.details["problem"];
    return {
      file: { path, present, problems: String(problem ?? error.message).split("; "), warnings: [] },
      config: null,
    };
  }
}

async function validatePrd(
  root: string,
  { prdFile: path, name }: FeatureDirectory,
  config: Config | null,
): Promise<ValidatedFile> {
  const text = await readText(join(root, path));
  if (text === null) {
    return { path, present: false, problems: [], warnings: [`not finalized yet: \`ralph prd ${name}\``] };
  }
  let data: unknown;
  try {
    data = parseJson(text, path);
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return { path, present: true, problems: [String(error.details["problem"])], warnings: [] };
  }
  const problems = validateFeaturePrd(data);
  if (problems.length > 0) return { path, present: true, problems, warnings: [] };
  const { userStories } = withDefaults(data as Partial<FeaturePrd>);
  const named = userStories.map((story) => {
    const { first, ui } = config === null ? { first: [], ui: [] } : storyCommandsOf(story, config);
    return {
      story,
      commands: [...first, ...ui].filter((command) =>
        !config?.verify.default.includes(command) && !config?.verify.ui.includes(command)
      ),
      none: first.length + ui.length === 0,
    };
  });
  return {
    path,
    present: true,
    problems: named.flatMap(({ story, commands }) =>
      commands.filter(isPlaceholder).map((command) =>
        `${story.id}: \`${command}\` checks nothing: name a command that can fail`
      )
    ),
    warnings: config === null
      ? []
      : named.filter(({ story, none }) => none && !story.passes).map(({ story }) =>
        `${story.id}: names no check and cannot pass`
      ),
  };
}
