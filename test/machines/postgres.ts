import { execFileSync, spawnSync } from "node:child_process";
import { chownSync, existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { postgresFolder } from "../needs.ts";

/** PostgreSQL refuses to run as root: then it is nobody's. */
const NOBODY = 65534;

/** A server of its own in a temporary folder, on a free port of the loopback. */
export class Postgres implements Disposable {
  readonly #bin: string;
  readonly #folder: string;
  readonly #port: number;

  private constructor(bin: string, folder: string, port: number) {
    this.#bin = bin;
    this.#folder = folder;
    this.#port = port;
  }

  static async start(): Promise<Postgres> {
    const bin = postgresFolder();
    if (bin === null) throw new Error("PostgreSQL is not installed");
    const folder = mkdtempSync(join(tmpdir(), "ralph-pg-"));
    if (process.getuid?.() === 0) {
      chownSync(folder, NOBODY, NOBODY);
    }
    const postgres = new Postgres(bin, folder, await freePort());
    postgres.#run("initdb", ["-D", join(folder, "data"), "-U", "ralph", "--auth=trust", "--no-sync"]);
    postgres.up();
    return postgres;
  }

  get url(): string {
    return `postgres://ralph@127.0.0.1:${this.#port}/postgres`;
  }

  /** The id of the server's first process. */
  get pid(): number {
    return Number(execFileSync("head", ["-1", join(this.#folder, "data", "postmaster.pid")], { encoding: "utf8" }));
  }

  up(): void {
    const options = `-p ${this.#port} -c listen_addresses=127.0.0.1 -k ${this.#folder}`;
    this.#run("pg_ctl", [
      "-D",
      join(this.#folder, "data"),
      "-l",
      join(this.#folder, "log"),
      "-w",
      "-o",
      options,
      "start",
    ]);
  }

  /** `immediate`: as when the power goes. */
  down(mode: "fast" | "immediate" = "fast"): void {
    this.#run("pg_ctl", ["-D", join(this.#folder, "data"), "-w", "-m", mode, "stop"]);
  }

  [Symbol.dispose](): void {
    if (existsSync(join(this.#folder, "data", "postmaster.pid"))) this.down("immediate");
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #run(program: string, args: readonly string[]): void {
    const command = [join(this.#bin, program), ...args];
    const asUser = process.getuid?.() === 0
      ? ["setpriv", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", ...command]
      : command;
    const { status, stderr, stdout } = spawnSync(asUser[0] ?? "", asUser.slice(1), {
      encoding: "utf8",
      cwd: this.#folder,
      stdio: ["ignore", program === "pg_ctl" ? "ignore" : "pipe", "pipe"],
    });
    if (status !== 0) throw new Error(`${program}: ${stderr}${stdout ?? ""}`);
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("no port");
  return address.port;
}
