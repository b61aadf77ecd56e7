/** One turn. The agent does its parts in the order of these fields. */
export interface ScriptedTurn {
  /** Text that the prompt must contain, or `/a regular expression/i`; of several, each. Absent: any prompt. */
  readonly match?: string | readonly string[];
  /** How often this turn can be used. @default 1 */
  readonly times?: number | "any";
  /** Seconds to wait, or a text such as `500ms`. @default 0 */
  readonly delay?: number | string;
  /** Files to write, relative to the working tree: path to content. */
  readonly write?: Readonly<Record<string, string>>;
  /** Files to add to, made when missing. */
  readonly append?: Readonly<Record<string, string>>;
  /** Files or folders to take away. */
  readonly delete?: readonly string[];
  /** Commands for the shell, one after the other. Their output is in the transcript, not among the words. */
  readonly run?: string | readonly string[];
  /** Text for standard error. */
  readonly stderr?: string;
  /** The agent's words; a list is one text a line. `{{nonce}}` is the one that the turn's signals carry. */
  readonly say?: string | readonly string[];
  /** Never end: until the timeout or an interrupt. */
  readonly hang?: boolean;
  /** Exit code. @default 0 */
  readonly exit?: number;
}

/** A script: turns in the order in which they are looked through. */
export interface Script {
  readonly turns: readonly ScriptedTurn[];
}
