import { join } from "node:path";
import { problemOf, type ValidatedFile } from "../../../cli/validated_file.ts";
import { pathExists } from "../../../host/files.ts";
import type { Validated } from "../../workflow.ts";
import { PLANNING_DIRECTORY } from "../paths.ts";
import { readPlanning } from "../read_planning.ts";

/** What the readers of `.planning/` could not make sense of; nothing there keeps a plan from being run as it is read. */
export async function validatePlanning({ root }: Validated): Promise<readonly ValidatedFile[]> {
  const path = PLANNING_DIRECTORY;
  try {
    const { diagnostics } = await readPlanning({ root });
    const files = [...new Set(diagnostics.map(({ file }) => file))];
    const found = files.map(async (file) => ({
      path: file,
      present: await pathExists(join(root, file)),
      problems: [],
      warnings: diagnostics.filter((one) => one.file === file).map(({ line, message }) =>
        line === 0 ? message : `line ${line}: ${message}`
      ),
    }));
    return [{ path, present: true, problems: [], warnings: [] }, ...await Promise.all(found)];
  } catch (error) {
    return [{ path, present: await pathExists(join(root, path)), problems: [problemOf(error, path)], warnings: [] }];
  }
}
