#!/bin/sh
# Puts ralph into ${PREFIX:-~/.local}/bin: from a release, where RALPH_RELEASE is the address of its files, or built from this checkout.
set -eu

fail() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '\nhint: %s\n' "$2" >&2
  exit 1
}

# The system in the names of a release.
system() {
  case "$(uname -s)" in
    Linux) name=linux ;;
    Darwin) name=darwin ;;
    *) fail "there is no archive for $(uname -s)" "on Windows unpack the .zip of the release" ;;
  esac
  case "$(uname -m)" in
    x86_64 | amd64) name=$name-x64 ;;
    aarch64 | arm64) name=$name-arm64 ;;
    *) fail "there is no archive for $(uname -m)" "build it from a checkout: ./install.sh" ;;
  esac
  if ldd --version 2>&1 | grep -qi musl; then name=$name-musl; fi
  printf '%s' "$name"
}

fetch() {
  if command -v curl >/dev/null 2>&1; then curl --fail --silent --show-error --location --output "$2" "$1"
  elif command -v wget >/dev/null 2>&1; then wget -q -O "$2" "$1"
  else fail "neither curl nor wget was found on PATH" "install one of them"
  fi || fail "could not fetch $1" "RALPH_RELEASE is the address of the folder with SHA256SUMS"
}

sum() {
  if command -v sha256sum >/dev/null 2>&1; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

from_release() {
  name=$(system)
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
  fetch "$RALPH_RELEASE/SHA256SUMS" "$work/sums"
  line=$(grep -E "^[0-9a-f]{64}  ralph-[^/ ]*-$name\.tar\.xz\$" "$work/sums") || fail "the release has no archive for $name"
  archive=${line#*  }
  echo "Fetching $archive"
  fetch "$RALPH_RELEASE/$archive" "$work/$archive"
  [ "$(sum "$work/$archive")" = "${line%% *}" ] ||
    fail "$archive is not the file that SHA256SUMS names" "nothing was installed; fetch it again, or tell who runs $RALPH_RELEASE"
  tar -xJf "$work/$archive" -C "$work" || fail "could not unpack $archive" "tar needs xz (Debian, Ubuntu: xz-utils)"
  built=$work/${archive%.tar.xz}
}

from_checkout() {
  cd "$(dirname "$0")"
  [ -f tools/build.mjs ] || fail "this is not a checkout of ralph: tools/build.mjs is missing" \
    "run install.sh where it lies in the checkout, or give RALPH_RELEASE, the address of a release's files"
  command -v node >/dev/null 2>&1 || fail "node was not found on PATH" "install Node.js 20.19 or later (https://nodejs.org)"
  command -v npm >/dev/null 2>&1 || fail "npm was not found on PATH" "it comes with Node.js (https://nodejs.org)"
  node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
    fail "Node.js $(node --version) is too old to build ralph" "install Node.js 20.19 or later; the binary itself needs none"
  echo "Installing what the build needs (npm ci)"
  npm ci --loglevel=error || fail "npm ci failed" "the lines above say why"
  echo "Building"
  node tools/build.mjs binary || fail "the build failed" "the lines above say why"
  built=dist
}

if [ -n "${RALPH_RELEASE:-}" ]; then from_release; else from_checkout; fi

folder="${PREFIX:-$HOME/.local}/bin"
mkdir -p "$folder" || fail "could not make $folder" "name another folder: PREFIX=/somewhere ./install.sh"
# A copy beside and a rename: a ralph that is running keeps its file.
cp "$built/ralph" "$folder/.ralph.$$" && chmod 755 "$folder/.ralph.$$" && mv -f "$folder/.ralph.$$" "$folder/ralph" ||
  fail "could not write $folder/ralph" "name another folder: PREFIX=/somewhere ./install.sh"

manual="${PREFIX:-$HOME/.local}/share/man/man1"
mkdir -p "$manual" && "$folder/ralph" man > "$manual/ralph.1" ||
  echo "The manual page could not be written to $manual; \`ralph man\` prints it" >&2

echo "Installed $folder/ralph ($("$folder/ralph" --version))"
case ":$PATH:" in
  *":$folder:"*) echo "Try it: ralph demo" ;;
  *) echo "$folder is not on PATH. Try it: $folder/ralph demo" ;;
esac
