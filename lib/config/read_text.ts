import { parseJson } from "../errors/json_syntax.ts";
import { RalphError } from "../errors/ralph_error.ts";
import { checkConfig, type CheckedConfig } from "./check.ts";

/** Parses and checks the text of a configuration; each problem begins with its line and column. */
export async function readConfigText(
  text: string,
): Promise<Omit<CheckedConfig, "problems"> & { readonly problems: readonly string[] }> {
  let data: unknown;
  try {
    data = parseJson(text, "");
  } catch (error) {
    if (!RalphError.isInstance(error)) throw error;
    return { config: null, problems: [String(error.details["problem"])], warnings: [] };
  }
  const { config, problems, warnings } = checkConfig(data);
  if (problems.length === 0) return { config, problems: [], warnings };
  const { jsonPlace } = await import("./json_place.ts");
  const placed = problems.map(({ path, text: problem }) => ({ ...jsonPlace(text, path), problem }))
    .toSorted((a, b) => a.line - b.line || a.column - b.column);
  return {
    config,
    problems: placed.map(({ line, column, problem }) => `line ${line}, column ${column}: ${problem}`),
    warnings,
  };
}
