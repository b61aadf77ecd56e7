/**
 * The rule that makes a value acceptable, in the shape of https://standardschema.dev: zod, valibot, arktype, whichever
 * copy a project has.
 */
export interface StandardSchema<Output> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>;
    readonly types?: { readonly input: unknown; readonly output: Output } | undefined;
  };
}

/** The verdict of a schema on a value. */
export type SchemaResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly SchemaIssue[] };

/** One thing that is wrong with a value. */
export interface SchemaIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** An issue in a line: where, and what. Pure. */
export function issueText({ message, path = [] }: SchemaIssue, ...before: readonly string[]): string {
  const keys = [...before, ...path.map((part) => String(typeof part === "object" ? part.key : part))];
  return keys.length === 0 ? message : `${keys.join(".")}: ${message}`;
}
