/**
 * How the binary is compiled; tests compile their own programs the same way.
 * Without `--splitting` the whole bundle is loaded at start; without `--compile-autoload-package-json` the packages of a
 * user's project are not found; without the two `--no-` flags the user's `.env` and bunfig preload would run in Ralph.
 * `--compile-jit-policy`: what runs for less than a second is not worth compiling; a long stream sets it back (child_output).
 */
export const BINARY_FLAGS = [
  "--compile",
  "--minify",
  "--bytecode",
  "--compile-jit-policy=8",
  "--splitting",
  "--format=esm",
  "--sourcemap",
  "--compile-autoload-package-json",
  "--no-compile-autoload-dotenv",
  "--no-compile-autoload-bunfig",
];
