import { spawnSync } from "node:child_process";
import process from "node:process";

/** Why tests of the sandbox cannot run here, or `null`. */
export function whyNoSandbox(): string | null {
  if (process.platform !== "linux") return "the sandbox works on Linux";
  const missing = ["bwrap", "socat", "rg"].filter((name) => spawnSync(name, ["--help"]).error !== undefined);
  if (missing.length > 0) return `${missing.join(" and ")} not installed`;
  const tried = spawnSync(
    "bwrap",
    ["--unshare-user", "--unshare-pid", "--unshare-net", "--ro-bind", "/", "/", "true"],
    {
      encoding: "utf8",
    },
  );
  return tried.status === 0 ? null : `bubblewrap: ${tried.stderr.trim()}`;
}
