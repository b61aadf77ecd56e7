import { PROJECTS } from "./languages.ts";
import type { Row } from "./types.ts";

const { javascript } = PROJECTS;

/** Sets a key of package.json. */
export const set = (key: string, value: string): string =>
  `node -e 'const fs=require("fs");const p=JSON.parse(fs.readFileSync("package.json"));p[${
    JSON.stringify(key)
  }]=${value};fs.writeFileSync("package.json",JSON.stringify(p))'`;

/** A package `five` 1.0.0 that the test expects, as a file of the repository; `$OUT/zero.tgz` has another content. */
export const five = (version: string): Pick<Row, "config" | "files" | "setup"> => ({
  config: { workspace: { setup: "npm ci --no-audit --no-fund --offline" } },
  files: {
    ".gitignore": "node_modules\n",
    "package.json":
      '{ "name": "sample", "version": "1.0.0", "type": "module", "dependencies": { "five": "file:five.tgz" } }\n',
    "test/add.test.mjs": javascript.testText("add").replace(", 5)", ", five)").replace(
      "import test",
      'import five from "five";\nimport test',
    ),
  },
  setup:
    `mkdir -p "$OUT/p/package"; cd "$OUT/p"; describe() { echo '{"name":"five","version":"'$1'","type":"module","exports":"./five.js"}' > package/package.json; echo "export default $2;" > package/five.js; }; describe 1.0.0 5; tar czf "$OLDPWD/five.tgz" package; describe ${version} 0; tar czf "$OUT/zero.tgz" package; cd "$OLDPWD"; npm install --no-audit --no-fund --offline >/dev/null; git add -A; git commit -qm lock`,
});

/** Installs without a lock. */
export const INSTALL =
  "rm -rf node_modules package-lock.json; npm install --no-audit --no-fund --offline >/dev/null 2>&1";
