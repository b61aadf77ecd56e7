import { join } from "node:path";
import type { ConfigCache } from "../config/load.ts";
import { modifiedAt } from "../host/files.ts";
import type { Host } from "../host/types.ts";
import { findFolders } from "./find_folders.ts";

/** The place that records that a configuration was checked. Only by the binary: sources change under their own name. */
export async function cacheOf(root: string, { environment }: Pick<Host, "environment">): Promise<ConfigCache | null> {
  if (!environment.compiled) return null;
  const folders = await findFolders(root, environment);
  if (folders === null) return null;
  const program = `${environment.executable} ${await modifiedAt(environment.executable)}`;
  return { file: join(folders.ralphDirectory, "config.json"), program };
}
