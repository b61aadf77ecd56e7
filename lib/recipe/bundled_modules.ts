/**
 * The modules that Ralph serves to recipes: `ralph` and `ralph/testing` always, so that there is one copy of them, and
 * a few more where the recipe's own folder has none. Nothing is loaded before a recipe asks for it.
 *
 * @module
 */
import { orElse } from "../host/looks.ts";

type Exports = Record<string, unknown>;

/** A module of Ralph's own. */
export interface OwnModule {
  /** The file's address. */
  url(): string;
  load(): Promise<Exports>;
}

/** Ralph's own modules by the name that recipes import: `ralph`, `ralph/testing`. */
export type OwnModules = Readonly<Record<string, OwnModule>>;

const BUNDLED: Readonly<Record<string, () => Promise<Exports>>> = {
  "zod": () => import("zod"),
  "zod/v4": () => import("zod/v4"),
  "zod/mini": () => import("zod/mini"),
  "dax": () => import("dax"),
  "@clack/prompts": () => import("@clack/prompts"),
};

/** A recipe may import these modules although they are not installed beside it. */
export function importableModules(own: OwnModules): readonly string[] {
  return [...Object.keys(own), ...Object.keys(BUNDLED)];
}

/** The names that a module of Ralph exports, or `null` for another module. */
export async function ownExports(own: OwnModules, module: string): Promise<readonly string[] | null> {
  const found = Object.hasOwn(own, module) ? own[module] : undefined;
  return found === undefined ? null : Object.keys(await found.load());
}

/** The module of Ralph that exports this name, or `null`. */
export async function ownModuleOf(own: OwnModules, name: string): Promise<string | null> {
  for (const module of Object.keys(own)) if ((await ownExports(own, module))?.includes(name) === true) return module;
  return null;
}

interface PluginBuild {
  module(name: string, load: () => Promise<{ readonly exports: Exports; readonly loader: "object" }>): void;
}

interface BunRuntime {
  plugin(plugin: { readonly name: string; setup(build: PluginBuild): void }): void;
  resolveSync(specifier: string, folder: string): string;
}

/** Makes them importable for recipes in `folder`; the process is one recipe's from here on. */
export async function serveBuiltinModules(folder: string, own: OwnModules): Promise<void> {
  const { Bun, Deno } = globalThis as { readonly Bun?: BunRuntime; readonly Deno?: unknown };
  if (Bun !== undefined) return serveToBun(Bun, folder, own);
  // Deno maps the names itself: by the deno.json of a checkout, or by a node_modules that has Ralph as `ralph`.
  if (Deno === undefined) await serveToNode(own);
}

function serveToBun(bun: BunRuntime, folder: string, own: OwnModules): void {
  const pathFrom = (from: string, name: string): string => orElse(() => bun.resolveSync(name, from), "");
  const bundled = Object.entries(BUNDLED).filter(([name]) => pathFrom(folder, name) === "").map(([name, load]) => {
    const path = pathFrom(import.meta.dirname ?? folder, name); // by its name the plugin would be asked; a binary has no path
    return [name, path === "" ? load : (): Promise<Exports> => import(path)] as const;
  });
  const served = [...Object.entries(own).map(([name, { load }]) => [name, load] as const), ...bundled];
  bun.plugin({
    name: "ralph",
    setup(build) {
      for (const [name, load] of served) {
        build.module(name, async () => ({ exports: { ...await load() }, loader: "object" }));
      }
    },
  });
}

type Resolve = (specifier: string, context: unknown) => unknown;
interface NodeModule {
  registerHooks?(hooks: { resolve(specifier: string, context: unknown, next: Resolve): unknown }): void;
  register(specifier: string, options: { readonly data: unknown }): void;
}

/** Node resolves in one place for the whole process: own names to this copy, bundled ones only after its own try failed. */
async function serveToNode(modules: OwnModules): Promise<void> {
  const own: Readonly<Record<string, string>> = Object.fromEntries(
    Object.entries(modules).map(([name, { url }]) => [name, url()]),
  );
  const data = { own, bundled: Object.keys(BUNDLED), from: import.meta.url };
  const { register, registerHooks } = await import("node:module") as unknown as NodeModule;
  if (registerHooks === undefined) return register(asyncHooks(), { data });
  registerHooks({
    resolve(specifier, context, next) {
      const url = Object.hasOwn(own, specifier) ? own[specifier] : undefined;
      if (url !== undefined) return { url, shortCircuit: true };
      if (BUNDLED[specifier] === undefined) return next(specifier, context);
      try {
        return next(specifier, context);
      } catch {
        return next(specifier, { ...context as object, parentURL: import.meta.url });
      }
    },
  });
}

/** The same for Node before 22.15, whose hooks run in a thread of their own and are given as a module. */
function asyncHooks(): string {
  const source = `let data;
export function initialize(given) { data = given; }
export async function resolve(specifier, context, next) {
  if (Object.hasOwn(data.own, specifier)) return { url: data.own[specifier], shortCircuit: true };
  if (!data.bundled.includes(specifier)) return next(specifier, context);
  try { return await next(specifier, context); } catch { return next(specifier, { ...context, parentURL: data.from }); }
}`;
  return `data:text/javascript,${encodeURIComponent(source)}`;
}
