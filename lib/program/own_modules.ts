import type { OwnModules } from "../recipe/bundled_modules.ts";

/** `.js` in the npm package, `.ts` in a checkout: the ending of this very file. */
const ENDING = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

/** The modules of Ralph that recipe files import. Nothing is loaded before one does. */
export const OWN_MODULES: OwnModules = {
  "ralph": { url: () => import.meta.resolve(`../mod${ENDING}`), load: () => import("../mod.ts") },
  "ralph/testing": { url: () => import.meta.resolve(`../testing/mod${ENDING}`), load: () => import("../testing/mod.ts") },
};
