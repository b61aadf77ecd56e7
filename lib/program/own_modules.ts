import type { OwnModules } from "../recipe/bundled_modules.ts";

/** `.js` in the npm package, `.ts` in a checkout: the ending of this very file. */
const ENDING = import.meta.url.endsWith(".ts") ? ".ts" : ".js";

const url = (path: string) => (): string => import.meta.resolve(`${path}${ENDING}`);

/** The modules of Ralph that recipe files import. Nothing is loaded before one does. */
export const OWN_MODULES: OwnModules = {
  "ralph": { url: url("../mod"), load: () => import("../mod.ts") },
  "ralph/agents": { url: url("../mod/agents"), load: () => import("../mod/agents.ts") },
  "ralph/backlog": { url: url("../mod/backlog"), load: () => import("../mod/backlog.ts") },
  "ralph/exec": { url: url("../mod/exec"), load: () => import("../mod/exec.ts") },
  "ralph/feature": { url: url("../mod/feature"), load: () => import("../mod/feature.ts") },
  "ralph/gsd": { url: url("../mod/gsd"), load: () => import("../mod/gsd.ts") },
  "ralph/host": { url: url("../mod/host"), load: () => import("../mod/host.ts") },
  "ralph/machines": { url: url("../mod/machines"), load: () => import("../mod/machines.ts") },
  "ralph/spec": { url: url("../mod/spec"), load: () => import("../mod/spec.ts") },
  "ralph/sprint": { url: url("../mod/sprint"), load: () => import("../mod/sprint.ts") },
  "ralph/testing": { url: url("../testing/mod"), load: () => import("../testing/mod.ts") },
};
