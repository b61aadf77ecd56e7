import type { Config } from "../generated/config.ts";

/** More items at once are no gain: they land one after another. */
export const MOST_WORKERS = 16;

/** People name test files like this; recorded output that tests compare with is among them. */
const TEST_GLOBS: readonly string[] = [
  "**/*.{test,spec,cy}.*",
  "**/*[_-]{test,tests,spec,specs}.*",
  "**/{test,tests}.*",
  "**/test[_-]*.*",
  "**/*{Test,Tests,Spec,IT}.{java,kt,kts,scala,groovy,cs,fs,vb,php,swift}",
  "**/{test,tests,__tests__,__test__}/**",
  "**/t/*.t",
  "**/*.{bats,feature,snap,test}",
  "**/*.{approved,golden}.*",
  "**/__snapshots__/**",
  "**/{support,helpers,fixtures,testdata,mocks,__mocks__,testutil}/**",
  "**/{spec,e2e,golden,__fixtures__,test-utils,test_utils,testutils}/**",
];

const TRACKER: Config["tracker"] = {
  name: null,
  project: null,
  label: "ralph",
  people: ["hitl", "needs-human"],
  states: { working: "ralph: working", review: "ralph: in review", blocked: "ralph: blocked" },
  remote: "origin",
  heartbeat: 300,
  url: null,
};

/**
 * The configuration of an empty file. Plain, so that nothing heavy loads where there is no file.
 *
 * @example What an empty configuration means
 * ```ts
 * import { defaultConfig } from "ralph";
 *
 * console.log(defaultConfig().verify.timeout); // 300
 * ```
 */
export function defaultConfig(): Config {
  return {
    trust: "normal",
    provider: { route: [], args: [], timeout: 1800, idleTimeout: 1200 },
    verify: {
      default: [],
      ui: [],
      timeout: 300,
      allowUnverified: false,
      baseline: true,
      isolated: false,
      challenge: 0,
      final: "clean",
    },
    parallel: { workers: 1, directory: "../.{repository}.ralph", conflicts: 2, keep: false },
    workspace: {
      copy: ["node_modules", ".venv", "vendor", ".env", ".env.*"],
      link: [],
      setup: null,
      setupTimeout: 600,
    },
    tests: { globs: TEST_GLOBS, integrity: "report" },
    experiments: { budget: 1 },
    attest: { key: null },
    finish: { state: "remove" },
    sandbox: { mode: "auto", network: "agent", allow: [], write: [], read: [], environment: [], command: null },
    limits: {
      iterations: null,
      minutes: null,
      tokens: null,
      costUsd: null,
      idle: 5,
      stalled: 12,
      added: 100,
      sameFailure: 3,
      rejections: 3,
      maxWait: 21_600,
      hooks: 4,
    },
    commits: { work: true, prdChanges: true, message: "chore: update prd.json" },
    services: [],
    browser: { enabled: true, executablePath: "", headless: true, screenshotDir: ".ralph/screenshots" },
    logs: { keep: 20 },
    maxRetries: 3,
    hooks: [],
    notify: [],
    protect: [],
    tracker: TRACKER,
    ui: "auto",
    gsd: { commands: {} },
  };
}
