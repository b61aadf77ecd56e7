#!/bin/sh
# Puts ralph into ${PREFIX:-~/.local}/bin: from a release, where RALPH_RELEASE is the address of its files, or built from this checkout.
set -eu

fail() {
  printf 'error: %s\n' "$1" >&2
  [ $# -lt 2 ] || printf '\nhint: %s\n' "$2" >&2
  exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

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
    *) fail "there is no archive for $(uname -m)" ;;
  esac
  if ldd --version 2>&1 | grep -qi musl; then name=$name-musl; fi
  printf '%s' "$name"
}

# The address may hold a password: it is not printed. One that begins with https stays there.
fetch() {
  case "$1" in https:*) only='--proto-redir =https' ;; *) only= ;; esac
  if has curl; then curl --fail --silent --show-error --location $only --output "$2" "$1"
  elif has wget; then wget -nv -O "$2" "$1"
  else fail "neither curl nor wget was found on PATH" "install one of them"
  fi || fail "could not fetch ${1##*/}" "RALPH_RELEASE is the address of the folder with SHA256SUMS"
}

sum() {
  if has sha256sum; then sha256sum "$1"; else shasum -a 256 "$1"; fi | cut -d ' ' -f 1
}

from_release() {
  has sha256sum || has shasum || fail "neither sha256sum nor shasum was found on PATH" "install one of them"
  name=$(system)
  work=$(mktemp -d)
  fetch "$RALPH_RELEASE/SHA256SUMS" "$work/sums"
  grep -qE '^[0-9a-f]{64}  ' "$work/sums" || fail "SHA256SUMS is no list of sums" "RALPH_RELEASE is the address of its folder"
  line=$(grep -E "^[0-9a-f]{64}  ralph-[^/ ]*-$name\.tar\.xz\$" "$work/sums") || fail "the release has no archive for $name"
  [ "$(printf '%s\n' "$line" | wc -l)" -eq 1 ] || fail "SHA256SUMS names more than one archive for $name"
  archive=${line#*  }
  echo "Fetching $archive"
  fetch "$RALPH_RELEASE/$archive" "$work/$archive"
  [ "$(sum "$work/$archive")" = "${line%% *}" ] ||
    fail "$archive is not the file that SHA256SUMS names" "nothing was installed; fetch it again, or tell who runs that address"
  tar -xJf "$work/$archive" -C "$work" || fail "could not unpack $archive" "tar needs xz (Debian, Ubuntu: xz-utils)"
  built=$work/${archive%.tar.xz}
}

from_checkout() {
  cd "$(dirname "$0")"
  [ -f tools/build.mjs ] || fail "this is not a checkout of ralph: tools/build.mjs is missing" \
    "run install.sh where it lies in the checkout, or give RALPH_RELEASE, the address of a release's files"
  has node || fail "node was not found on PATH" "install Node.js 20.19 or later (https://nodejs.org)"
  has npm || fail "npm was not found on PATH" "it comes with Node.js (https://nodejs.org)"
  node -e 'const [a, b] = process.versions.node.split("."); process.exit(a > 20 || (a == 20 && b >= 19) ? 0 : 1)' ||
    fail "Node.js $(node --version) is too old to build ralph" "install Node.js 20.19 or later; the binary itself needs none"
  echo "Installing what the build needs (npm ci)"
  npm ci --loglevel=error || fail "npm ci failed" "the lines above say why"
  echo "Building"
  node tools/build.mjs binary || fail "the build failed" "the lines above say why"
  built=dist
}

# Nothing is there, or what Ralph's installation put there: the file holds this text. It is not run.
free() { { [ ! -e "$1" ] && [ ! -L "$1" ]; } || { [ -f "$1" ] && LC_ALL=C grep -aq "$2" "$1"; }; }

[ -n "${PREFIX:-${HOME:-}}" ] || fail "HOME is not set" "name a folder: PREFIX=/somewhere ./install.sh"
prefix=${PREFIX:-$HOME/.local}
case "$prefix" in /*) ;; *) prefix=$PWD/$prefix ;; esac
folder=$prefix/bin
manual=$prefix/share/man/man1
free "$folder/ralph" refs/ralph/ ||
  fail "$folder/ralph is not this Ralph's" "move it away, or name another folder: PREFIX=/somewhere ./install.sh"

work='' new=$folder/.ralph.$$ page=$manual/.ralph.1.$$
trap 'rm -rf "$new" "$page" ${work:+"$work"}' EXIT
trap 'exit 130' INT TERM HUP
if [ -n "${RALPH_RELEASE:-}" ]; then from_release; else from_checkout; fi

mkdir -p "$folder" || fail "could not make $folder" "name another folder: PREFIX=/somewhere ./install.sh"
# A copy beside and a rename: a ralph that is running keeps its file.
cp "$built/ralph" "$new" && chmod 755 "$new" ||
  fail "could not write $folder/ralph" "name another folder: PREFIX=/somewhere ./install.sh"
version=$("$new" --version) || fail "ralph does not run here" "nothing was replaced; the line above says why"
mv -f "$new" "$folder/ralph" || fail "could not write $folder/ralph"

free "$manual/ralph.1" '^\.TH "\{0,1\}RALPH' && mkdir -p "$manual" && "$folder/ralph" man > "$page" && chmod 644 "$page" &&
  mv -f "$page" "$manual/ralph.1" ||
  echo "The manual page could not be written to $manual; \`ralph man\` prints it" >&2

echo "Installed $folder/ralph ($version)"
case ":$PATH:" in
  *":$folder:"*) echo "Try it: ralph demo" ;;
  *) echo "$folder is not on PATH. Try it: $folder/ralph demo" ;;
esac
