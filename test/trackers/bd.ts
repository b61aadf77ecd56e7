/** A stand-in for the program `bd`: a JSON file of issues. */
export const BD = `#!/usr/bin/env node
const { readFileSync, writeFileSync } = require("node:fs");
const words = process.argv.slice(2).filter((word) => word !== "--json");
const all = JSON.parse(readFileSync("beads.json", "utf8"));
const keep = () => writeFileSync("beads.json", JSON.stringify(all));
const find = (id) => all.find((one) => one.id === id) ?? (console.error("no issue found matching " + id), process.exit(1));
const [command, second, third, text] = words;
if (command === "list") console.log(JSON.stringify(all.map(({ comments, ...one }) => one)));
else if (command === "show") console.log(JSON.stringify([find(second)]));
else if (command === "comments" && second === "add") { find(third).comments.push({ text }); keep(); console.log("{}"); }
else if (command === "comments") console.log(JSON.stringify(find(second).comments));
else if (command === "update") { Object.assign(find(second), { status: text }); keep(); console.log("[]"); }
else process.exit(2);
`;

/** An issue as it prints it. */
export function bead(id: string, more: object = {}): object {
  const updated = { updated_at: "2026-01-01T00:00:00Z", comments: [] };
  return { id, title: id, status: "open", labels: ["ralph"], ...updated, ...more };
}
