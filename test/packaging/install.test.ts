/** `install.sh` from the files of a release, which a server of this machine has. */
import { createHash } from "node:crypto";
import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { needs } from "../needs.ts";

const SCRIPT = join(process.cwd(), "install.sh");
const SYSTEM = `${process.platform}-${process.arch}`;

/** A release whose program prints its version, and the address where it is. */
async function release(
  sumOf: (archive: Buffer) => string,
  program = "#!/bin/sh\n# refs/ralph/\necho 9.9.9\n",
): Promise<{ readonly url: string; readonly prefix: string }> {
  const root = mkdtempSync(join(tmpdir(), "ralph-install-"));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const name = `ralph-9.9.9-${SYSTEM}`;
  mkdirSync(join(root, name));
  writeFileSync(join(root, name, "ralph"), program);
  chmodSync(join(root, name, "ralph"), 0o755);
  spawnSync("tar", ["-cJf", `${name}.tar.xz`, name], { cwd: root });
  const archive = readFileSync(join(root, `${name}.tar.xz`));
  const files = new Map<string, string | Buffer>([
    ["/SHA256SUMS", `${"0".repeat(64)}  ralph-9.9.9-plan9-x64.tar.xz\n${sumOf(archive)}  ${name}.tar.xz\n`],
    [`/${name}.tar.xz`, archive],
  ]);
  const server = createServer(({ url = "" }, response) => {
    const body = files.get(url);
    response.writeHead(body === undefined ? 404 : 200).end(body);
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((done) => server.once("listening", done));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, prefix: join(root, "prefix") };
}

async function install(url: string, prefix: string): Promise<{ readonly code: number | null; readonly text: string }> {
  const child = spawn("sh", [SCRIPT], { env: { ...process.env, RALPH_RELEASE: url, PREFIX: prefix }, stdio: "pipe" });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk: Buffer) => text += chunk.toString());
  const code = await new Promise<number | null>((done) => child.on("close", done));
  return { code, text };
}

const sha256 = (archive: Buffer): string => createHash("sha256").update(archive).digest("hex");

test("the archive of this system is fetched, and its program is where PREFIX says", needs("curl", "xz"), async () => {
  const { url, prefix } = await release(sha256);

  const { code, text } = await install(url, prefix);

  expect(text).toContain(`Installed ${prefix}/bin/ralph (9.9.9)`);
  expect(code).toBe(0);
});

test("an archive with another sum is refused, and nothing is installed", needs("curl", "xz"), async () => {
  const { url, prefix } = await release(() => "a".repeat(64));

  const { code, text } = await install(url, prefix);

  expect(text).toMatch(/error: ralph-9\.9\.9-\S+ is not the file that SHA256SUMS names\n\nhint: /);
  expect([code, existsSync(prefix)]).toEqual([1, false]);
});

test("an address without a release is named", needs("curl"), async () => {
  const { url, prefix } = await release(sha256);

  const { code, text } = await install(`${url}/none`, prefix);

  expect(text).toContain("error: could not fetch SHA256SUMS");
  expect([code, existsSync(prefix)]).toEqual([1, false]);
});

test.each([
  ["a program", (at: string): void => writeFileSync(at, "mine")],
  ["a link to one", (at: string): void => (writeFileSync(`${at}.mine`, "mine"), symlinkSync(`${at}.mine`, at))],
  ["a folder", (at: string): void => void mkdirSync(at)],
])("%s of that name that is another's stays as it is, and nothing is fetched", needs("curl", "xz"), async (_, put) => {
  const { url, prefix } = await release(sha256);
  mkdirSync(join(prefix, "bin"), { recursive: true });
  put(join(prefix, "bin/ralph"));
  const before = readdirSync(join(prefix, "bin"));

  const { code, text } = await install(url.replace("://", "://ada:s3cret@"), prefix);

  expect(text).toContain(`error: ${prefix}/bin/ralph is not this Ralph's`);
  expect([code, readdirSync(join(prefix, "bin")), existsSync(join(prefix, "share"))]).toEqual([1, before, false]);
});

test("a program that does not start replaces none", needs("curl", "xz"), async () => {
  const { url, prefix } = await release(sha256, "#!/bin/sh\nexit 3\n");
  mkdirSync(join(prefix, "bin"), { recursive: true });
  writeFileSync(join(prefix, "bin/ralph"), "# refs/ralph/ of before");

  const { code, text } = await install(url, prefix);

  expect(text).toContain("error: ralph does not run here");
  expect([code, readFileSync(join(prefix, "bin/ralph"), "utf8")]).toEqual([1, "# refs/ralph/ of before"]);
  expect(readdirSync(join(prefix, "bin"))).toEqual(["ralph"]);
});

test("a person's file behind the name of the manual page is not written", needs("curl", "xz"), async () => {
  const { url, prefix } = await release(sha256);
  mkdirSync(join(prefix, "share/man/man1"), { recursive: true });
  writeFileSync(join(prefix, "precious"), "mine");
  symlinkSync(join(prefix, "precious"), join(prefix, "share/man/man1/ralph.1"));

  const { code, text } = await install(url, prefix);

  expect(text).toContain("The manual page could not be written");
  expect([code, readFileSync(join(prefix, "precious"), "utf8")]).toEqual([0, "mine"]);
});

test("an address with a password is not printed", needs("curl"), async () => {
  const { url, prefix } = await release(sha256);

  const { code, text } = await install(`${url.replace("://", "://ada:s3cret@")}/none`, prefix);

  expect([code, text.includes("s3cret")]).toEqual([1, false]);
});
