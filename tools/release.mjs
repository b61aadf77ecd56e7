/**
 * Makes a release in dist/release: an archive for each system, the npm package, sums, SBOM and notes.
 *
 *   node tools/release.mjs [--dry-run] [--target linux-x64,windows-x64,…]
 *
 * `--dry-run` publishes nothing. All times in the archives are SOURCE_DATE_EPOCH, else the commit's, so that the same
 * commit gives the same sums. It needs tar, xz and zip.
 */
import { createHash } from "node:crypto";
import {
  copyFileSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { environment, mustRun, ROOT, run, TARGETS } from "./runtimes.mjs";

const DIST = join(ROOT, "dist");
const OUT = join(DIST, "release");
const SHELLS = { bash: "ralph.bash", fish: "ralph.fish", zsh: "_ralph", powershell: "ralph.ps1" };

async function main() {
  const { values } = parseArgs({ options: { "dry-run": { type: "boolean" }, target: { type: "string" } } });
  const isDry = values["dry-run"] === true;
  const targets = values.target?.split(",") ?? TARGETS;
  const { name, version, files: packed } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
  const notes = notesOf(version);
  if (!isDry) await refuseOthers(version);
  const epoch = Number(
    process.env.SOURCE_DATE_EPOCH ?? await mustRun("git", ["log", "-1", "--format=%ct"], { capture: true }),
  );
  const env = environment({ SOURCE_DATE_EPOCH: String(epoch), TZ: "UTC" });
  rmSync(OUT, { recursive: true, force: true });
  mkdirSync(OUT, { recursive: true });

  await mustRun(process.execPath, ["tools/build.mjs", "package"], { env, capture: true });
  for (const target of targets) await archive(target, { version, epoch, env });
  // npm packs modes as they are, and a clone has them by the umask
  await mustRun("chmod", ["-R", "u=rwX,go=rX", "package.json", ...packed], { env, capture: true });
  await mustRun("npm", ["pack", "--silent", "--ignore-scripts", "--pack-destination", OUT], { env, capture: true });
  await writeBill(join(OUT, `ralph-${version}.cdx.json`), { name, epoch, env });
  writeFileSync(join(OUT, "NOTES.md"), notes);
  const files = readdirSync(OUT).filter((file) => file !== "NOTES.md").sort();
  const sums = files.map((file) => `${sumOf(file)}  ${file}\n`);
  writeFileSync(join(OUT, "SHA256SUMS"), sums.join(""));

  for (const [at, file] of files.entries()) console.log(`${megabytes(file)}  ${sums[at].slice(0, 64)}  ${file}`);
  if (isDry) {
    return console.log(`nothing was published; dist/release holds ${files.length} files, SHA256SUMS and NOTES.md`);
  }
  await publish(files, { name, version, env });
}

/** The changelog's section of a version, without its heading. */
function notesOf(version) {
  const text = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const section = text.split(/^## /m).find((part) => part.startsWith(`${version}\n`));
  if (section === undefined) throw new Error(`CHANGELOG.md has no section "## ${version}"`);
  return section.slice(version.length).trimStart();
}

/** A release is a commit with its tag, and nothing else. */
async function refuseOthers(version) {
  const changed = await mustRun("git", ["status", "--porcelain"], { capture: true });
  if (changed !== "") throw new Error(`commit these changes first:\n${changed}`);
  const tags = await mustRun("git", ["tag", "--points-at", "HEAD"], { capture: true });
  if (!tags.split("\n").includes(`v${version}`)) {
    throw new Error(`HEAD has no tag v${version}: \`git tag v${version}\``);
  }
}

async function archive(target, { version, epoch, env }) {
  const isWindows = target.startsWith("windows");
  const program = isWindows ? "ralph.exe" : "ralph";
  await mustRun(process.execPath, ["tools/build.mjs", "binary", "--target", target], { env, capture: true });
  const folder = `ralph-${version}-${target}`;
  const staging = join(OUT, folder);
  mkdirSync(join(staging, "completions"), { recursive: true });
  copyFileSync(join(DIST, `ralph-${target}${isWindows ? ".exe" : ""}`), join(staging, program));
  copyFileSync(join(ROOT, "LICENSE"), join(staging, "LICENSE"));
  copyFileSync(join(DIST, "man", "ralph.1"), join(staging, "ralph.1"));
  for (const [shell, file] of Object.entries(SHELLS)) {
    const script = await mustRun(process.execPath, ["dist/bin/ralph.js", "completions", shell], { env, capture: true });
    writeFileSync(join(staging, "completions", file), script);
  }
  const paths = readdirSync(staging, { recursive: true }).map((path) => join(folder, path)).sort();
  for (const path of paths) utimesSync(join(OUT, path), epoch, epoch);
  const pack = isWindows ? zipped(folder, paths) : tarred(folder, epoch);
  for (const [file, ...words] of pack) await mustRun(file, words, { cwd: OUT, env, capture: true });
  rmSync(staging, { recursive: true });
}

function tarred(folder, epoch) {
  const same = ["--sort=name", `--mtime=@${epoch}`, "--owner=0", "--group=0", "--numeric-owner", "--mode=u+rw,go=rX"];
  // Two blocks, on two cores; the same bytes on a machine with one.
  const xz = ["xz", "-6", "-T2", "--block-size=64MiB", "--force", `${folder}.tar`];
  return [["tar", ...same, "-cf", `${folder}.tar`, folder], xz];
}

/** Files alone, in this order; zip notes their modes. */
function zipped(folder, paths) {
  return [["chmod", "-R", "u=rwX,go=rX", folder], ["zip", "-X", "-D", "-q", `${folder}.zip`, ...paths]];
}

/** The packages in the program with their licences, as CycloneDX. Number, time and the folder's name would differ. */
async function writeBill(file, { name, epoch, env }) {
  const words = ["sbom", "--sbom-format", "cyclonedx", "--omit", "dev", "--package-lock-only"];
  const { serialNumber: _, ...bill } = JSON.parse(await mustRun("npm", words, { env, capture: true }));
  delete bill.metadata.tools; // the version of npm
  const unlicensed = bill.components.filter(({ licenses }) => licenses === undefined).map(({ name }) => name);
  if (unlicensed.length > 0) throw new Error(`no licence is named by ${unlicensed.join(", ")}`);
  bill.metadata.component.name = name;
  bill.metadata.timestamp = new Date(epoch * 1000).toISOString();
  writeFileSync(file, `${JSON.stringify(bill, null, 2)}\n`);
}

function sumOf(file) {
  return createHash("sha256").update(readFileSync(join(OUT, file))).digest("hex");
}

function megabytes(file) {
  return `${(statSync(join(OUT, file)).size / 1e6).toFixed(1).padStart(6)} MB`;
}

/**
 * First the files, into a draft that nobody sees, then the package, then the release is shown: what fails in between is
 * done again by the same command.
 */
async function publish(files, { name, version, env }) {
  const tag = `v${version}`;
  const paths = [...files, "SHA256SUMS"].map((file) => join(OUT, file));
  const { code } = await run("gh", ["release", "view", tag], { env, capture: true });
  if (code !== 0) {
    await mustRun("gh", [
      "release",
      "create",
      tag,
      "--draft",
      "--verify-tag",
      "--title",
      tag,
      "--notes-file",
      join(OUT, "NOTES.md"),
    ], { env });
  }
  await mustRun("gh", ["release", "upload", tag, "--clobber", ...paths], { env });
  const published = await run("npm", ["view", `${name}@${version}`, "version"], { env, capture: true });
  if (!published.output.split("\n").includes(version)) {
    await mustRun("npm", ["publish", "--provenance", "--access", "public", join(OUT, `${name}-${version}.tgz`)], {
      env,
    });
  }
  await mustRun("gh", ["release", "edit", tag, "--draft=false"], { env });
}

try {
  await main();
} catch (error) {
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
}
