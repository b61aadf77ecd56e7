declare module "deno-std/cli/parse_args.js" {
  export function parseArgs(arguments_: string[], options?: unknown): unknown;
}
