import { join } from "node:path";
import type { CheckResult, Verification } from "../../../lib/backlog/types.ts";
import {
  type CheckoutContext,
  type CheckoutOptions,
  openCheckout,
} from "../../../lib/checks/checkout/open_checkout.ts";
import type { BroughtUp, Checkout, CheckoutPlace } from "../../../lib/checks/checkout/place.ts";
import { verify } from "../../../lib/checks/verify.ts";
import type { CheckLike } from "../../../lib/checks/function.ts";
import type { RalphContext } from "../../../lib/context/context.ts";
import { temporaryDirectory, writeAtomic } from "../../../lib/host/files.ts";
import { loopWorld, type World } from "../../loop/loop_world.ts";
import type { RalphOptions } from "../../../lib/recipe/create_ralph.ts";

/** A repository with a checkout in a cache of its own, and what checks come to in it. */
export interface CheckoutWorld extends AsyncDisposable {
  readonly world: World;
  readonly root: string;
  readonly ralph: RalphContext;
  readonly cache: string;
  git(...arguments_: string[]): Promise<string>;
  write(path: string, text: string): Promise<void>;
  /** Everything in the tree as a commit. */
  commit(): Promise<string>;
  open(given?: Partial<CheckoutContext>, options?: CheckoutOptions): Promise<Checkout>;
}

/** @param bubblewrap false: the one on PATH says that it cannot, as in a container */
export async function checkoutWorld(
  options: RalphOptions & { readonly files?: Record<string, string> } = {},
  bubblewrap = true,
): Promise<CheckoutWorld> {
  const world = await loopWorld(() => Promise.resolve(), options);
  const cache = await temporaryDirectory("cache");
  const { variables } = world.ralph.host.environment;
  const broken = join(cache.path, "bin");
  await writeAtomic(join(broken, "bwrap"), "#!/bin/sh\necho 'Creating new namespace failed' >&2\nexit 1\n", {
    mode: 0o755,
  });
  const path = bubblewrap ? variables["PATH"] : `${broken}:${variables["PATH"]}`;
  const environment = {
    ...world.ralph.host.environment,
    variables: { ...variables, XDG_CACHE_HOME: cache.path, PATH: path },
  };
  const ralph: RalphContext = { ...world.ralph, host: { ...world.ralph.host, environment } };
  const opened: Checkout[] = [];
  return {
    world,
    root: world.root,
    ralph,
    cache: cache.path,
    git: world.git,
    write: world.write,
    async commit() {
      await world.git("add", "-A");
      await world.git("commit", "-q", "--allow-empty", "-m", "work");
      return await world.git("rev-parse", "HEAD");
    },
    async open(given = {}, options = {}) {
      const checkout = await openCheckout({ ...ralph, ...given }, options);
      opened.push(checkout);
      return checkout;
    },
    async [Symbol.asyncDispose]() {
      for (const checkout of opened) await checkout[Symbol.asyncDispose]();
      await world[Symbol.asyncDispose]();
      await cache[Symbol.asyncDispose]();
    },
  };
}

/** The place of a bring-up that has to work. */
export async function readyPlace(checkout: Checkout, commit?: string): Promise<CheckoutPlace> {
  const up: BroughtUp = await checkout.bringUp(commit);
  if (up.status !== "ready") throw new Error(`the checkout is not ready: ${JSON.stringify(up)}`);
  return up.place;
}

/** The outcome of one command in a place. */
export async function outcomeIn(ralph: RalphContext, place: CheckoutPlace, command: CheckLike): Promise<CheckResult> {
  const checked: Verification = await verify(ralph, [command], { place });
  return checked.results[0]!;
}

/** The output of a command in a place. */
export async function printedIn(ralph: RalphContext, place: CheckoutPlace, command: string): Promise<string> {
  return (await outcomeIn(ralph, place, command)).tail;
}

/** The path of the cache's parts. */
export function inCache({ cache }: Pick<CheckoutWorld, "cache">, ...parts: string[]): string {
  return join(cache, "checkouts", ...parts);
}
