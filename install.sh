#!/bin/sh
# Builds ralph from this checkout and puts the binary into ${PREFIX:-~/.local}/bin.
set -eu

fail() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '\nhint: %s\n' "$2" >&2
  exit 1
}

cd "$(dirname "$0")"
[ -f tools/build.mjs ] || fail "this is not a checkout of ralph: tools/build.mjs is missing" "run install.sh where it lies in the checkout"

command -v node >/dev/null 2>&1 || fail "node was not found on PATH" "install Node.js 20.19 or later (https://nodejs.org)"
command -v npm >/dev/null 2>&1 || fail "npm was not found on PATH" "it comes with Node.js (https://nodejs.org)"
node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
  fail "Node.js $(node --version) is too old to build ralph" "install Node.js 20.19 or later; the binary itself needs none"

folder="${PREFIX:-$HOME/.local}/bin"
echo "Installing what the build needs (npm ci)"
npm ci --loglevel=error || fail "npm ci failed" "the lines above say why"
echo "Building"
node tools/build.mjs binary || fail "the build failed" "the lines above say why"

mkdir -p "$folder" || fail "could not make $folder" "name another folder: PREFIX=/somewhere ./install.sh"
# A copy beside and a rename: a ralph that is running keeps its file.
cp dist/ralph "$folder/.ralph.$$" && chmod 755 "$folder/.ralph.$$" && mv -f "$folder/.ralph.$$" "$folder/ralph" ||
  fail "could not write $folder/ralph" "name another folder: PREFIX=/somewhere ./install.sh"

manual="${PREFIX:-$HOME/.local}/share/man/man1"
mkdir -p "$manual" && dist/ralph man > "$manual/ralph.1" ||
  echo "The manual page could not be written to $manual; \`ralph man\` prints it" >&2

echo "Installed $folder/ralph ($("$folder/ralph" --version))"
case ":$PATH:" in
  *":$folder:"*) echo "Try it: ralph demo" ;;
  *) echo "$folder is not on PATH. Try it: $folder/ralph demo" ;;
esac
