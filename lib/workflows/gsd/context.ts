import type { StateFiles } from "../../backlog/state_files.ts";
import type { Config } from "../../config/types.ts";
import type { RunInfo } from "../../context/context.ts";
import type { EventSink } from "../../events/types.ts";
import type { Repository } from "../../git/types.ts";
import type { Host } from "../../host/types.ts";

/** What the backlog needs of the context. */
export interface GsdBacklogContext {
  readonly root: string;
  readonly config: Config;
  readonly state: StateFiles;
  readonly repository: Repository | null;
  readonly host: Host;
  readonly events: EventSink;
  readonly run: Pick<RunInfo, "folder">;
}
