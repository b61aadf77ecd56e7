import type { FileFindings, ValidatedFile } from "../cli/validated_file.ts";
import type { Backlog, Verification } from "../backlog/types.ts";
import type { Command, FlagTable, Invocation, KnownWorkflow, RunPartName } from "../cli/command.ts";
import type { Finding } from "../cli/finding.ts";
import type { Look, NextView, StatusView } from "../cli/look.ts";
import type { Scaffold } from "../cli/scaffold.ts";
import type { Place } from "../cli/workspace.ts";
import type { Config } from "../config/load.ts";
import type { RalphContext } from "../context/context.ts";

/** A workflow's row in the table: nothing of it is loaded before it is used. */
export interface WorkflowRow extends KnownWorkflow {
  /** For `ralph help workflows`. */
  readonly summary: string;
  /** For the question of `ralph init`. */
  readonly hint: string;
  /** The argument that shared commands take in it: `FEATURE`. */
  readonly scope?: string;
  /** The command that `ralph` alone is, where flag or configuration name this workflow. */
  readonly bare?: Command;
  /** Its own flags of `ralph run`. */
  readonly runFlags?: FlagTable;
  /** The work of `ralph run` and `ralph plan` in it, for their help. */
  readonly help?: { readonly run?: string; readonly plan?: string };
  /** Its items may look at pages in a browser. */
  readonly pages?: boolean;
  /** The variable that it adds to the environment of its agents. */
  readonly variable?: readonly [name: string, meaning: string];
  /** JSON Schemas for `ralph schema`. */
  readonly schemas?: Readonly<Record<string, () => Promise<unknown>>>;
  /** The command that continues a part of a run; `null` for a part that is not its own. */
  resume(part: RunPartName): Promise<string | null>;
  /** Its part of the commands that all workflows share. */
  readonly workflow: Workflow;
}

/** `ralph validate` gives this to a workflow. */
export interface Validated {
  /** Absolute path. */
  readonly root: string;
  /** `null` where it cannot be read. */
  readonly config: Config | null;
  /** The argument, or "". */
  readonly scope: string;
  readonly host: Invocation["host"];
}

/** A workflow: what the commands that all of them share do in it. */
export interface Workflow {
  /** `ralph init` begins with this, or does this and returns the exit code. */
  readonly init: Omit<Scaffold, "config"> | ((invocation: Invocation, place: Place) => Promise<number>);
  /** Turns a goal, a file or a phase into work; `null` for a line that is not for its planning. */
  plan?(invocation: Invocation, place: Place): Promise<number | null>;
  /** The loop. Typing it is the consent. */
  run(invocation: Invocation, place: Place): Promise<number>;
  /** The state of the work: one view, or one for each of several. */
  status(look: Look): Promise<readonly StatusView[]>;
  /** The item that the next iteration would take. */
  next(look: Look): Promise<NextView>;
  /** Its state files and what is wrong with them. */
  validate(validated: Validated): Promise<readonly ValidatedFile[]>;
  /** Problems of the configuration in this workflow only. */
  validateConfig?(found: { readonly config: Config; readonly present: boolean }): FileFindings["problems"];
  /** Runs the checks of its work on the tree, and `verify.default`. */
  verify(ralph: RalphContext, scope: string): Promise<Verification>;
  /** Its items, for a worker elsewhere. Absent: they follow each other, and are worked on here. */
  backlog?(ralph: RalphContext, scope: string): Promise<Backlog>;
  /** How its files name a check, for messages. @default in a criterion, as Verify: `cmd` */
  readonly checkForm?: string;
  /** The findings of `ralph doctor` for it. */
  examine?(place: Place, host: Invocation["host"]): Promise<readonly Finding[]>;
}
