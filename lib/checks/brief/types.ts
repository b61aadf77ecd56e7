import type { AsInstructed } from "../../backlog/check_types.ts";
import type { ManualEdit } from "../../backlog/state_files.ts";
import type { BriefRecord } from "../../backlog/journal_types.ts";
import type { FileState } from "../../host/file_state.ts";
import type { Setting } from "./settings.ts";

/** The kind of a file of the brief: what it decides about. */
export type BriefKind =
  /** A file that Ralph itself writes: an edit of it is a claim. */
  | "state"
  /** `ralph.config.json`, and what `protect` names: a change of it fails the attempt. */
  | "protected"
  | "recipe"
  | "prompt"
  | "plan"
  /** Hooks, attributes, excludes and settings of the git directory. */
  | "git"
  /** Instructions for agents: turns may change them, reviewers see them as they were. */
  | "instructions"
  /** The person's own, outside of the repository: a change is reported, and not reverted. */
  | "person";

/** One file, or all files of a folder that a name test accepts. Absence is part of it. */
export interface BriefSource {
  readonly kind: BriefKind;
  /** Absolute. */
  readonly path: string;
  /** Given for a folder: which of the files below it count, by their absolute path. */
  readonly accepts?: (path: string) => boolean;
  /** Given for a folder: the folders below it that are read. @default all */
  readonly enters?: (path: string) => boolean;
  /** A file of git's settings: git itself changes it as well. @default false */
  readonly settings?: boolean;
}

/** A file of the brief. */
export interface BriefEntry extends Pick<BriefChange, "file" | "kind" | "path"> {
  /** Replaced where it is restored (a new inode) or where only settings changed that a turn may change. */
  before: FileState;
  /** The settings of a file of git's, as they are to be. */
  settings: readonly Setting[] | null;
  /** The same as they were when they were looked at last. */
  left: readonly Setting[] | null;
  /** Git object that holds a file too large for memory. */
  object: string | null;
}

/** A file that is not as it was when the run began. */
export interface BriefChange {
  readonly kind: BriefKind;
  /** As it is shown: relative to the root where it is below it. */
  readonly path: string;
  /** Absolute. */
  readonly file: string;
  readonly before: FileState;
  readonly found: FileState;
  /** The edit of a state file. */
  readonly edit?: ManualEdit;
  /** The settings of git's that differ, where git can read the file. */
  readonly keys?: readonly string[];
}

/** The brief of a run: all that judges it, as it was when the run began. */
export interface Brief {
  /**
   * Finds what differs now, state files included. Reads files, starts no process unless git's settings differ.
   *
   * @param only one kind. @default all
   */
  compare(only?: BriefKind): Promise<readonly BriefChange[]>;
  /**
   * Makes these files what they were, keeps what was found in the run's folder, reports it, and commits the restoration
   * where HEAD has the change.
   *
   * @returns those that were restored; what a person's own files hold is only reported
   */
  restore(changes: readonly BriefChange[]): Promise<readonly BriefChange[]>;
  /**
   * Call between turns, when no process of a turn or a check is left: settings of git's that changed since the last look
   * are a person's and count from now on, but for those that decide what git runs.
   */
  adoptSettings(): Promise<void>;
  /** Reports programs on PATH and tags that are not what they were when the run began: what checks start or compare with. */
  lookAtPrograms(): void;
  /** The run is over: a person's own files count as they are now. */
  release(): Promise<void>;
  /** Runs an agent while its instruction files are as they were when the run began; what a turn made of them stays. */
  readonly asInstructed: AsInstructed;
  /** True for a path, relative to the root, that the brief holds or whose appearance would be a change. */
  covers(path: string): boolean;
  /** Shown paths of what was restored so far. */
  readonly restored: readonly string[];
  /** Shown paths of a person's own files that have changed. */
  readonly reported: readonly string[];
  /** Takes over what another tree of the run has restored and reported, for the run's last lines. */
  hear(other: Pick<Brief, "reported" | "restored">): void;
  /** For the journal. */
  readonly record: BriefRecord;
}
