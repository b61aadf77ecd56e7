/**
 * Prints the TypeScript types of schemas as JSON: the text of one file of lib/generated for each row of `FILES`, with the
 * schemas' descriptions as comments. `tools/generate.mjs` writes them.
 */
import { existsSync } from "node:fs";
import { z } from "zod";
import { TYPE_NAMES } from "../lib/config/parts.ts";

/**
 * Folders of lib and names of schemas, by the file with their types. A file may use the types of the files above it; one
 * whose schemas a project does not have is empty.
 */
const FILES: Readonly<Record<string, readonly [folder: string, ...names: readonly string[]]>> = {
  config: ["config", "CONFIG_SCHEMA"],
  events: ["events", "EVENT_SCHEMA"],
  report: ["report", "REPORT_SCHEMA", "GATE_SCHEMA"],
  steer: ["steer", "LIVE_RUN", "REQUEST", "REPLY"],
  attest: ["attest", "ATTEST_SCHEMA"],
  trackers: ["trackers", "CLAIM_SCHEMA", "UPDATE_SCHEMA"],
  plan: ["workflows/exec/plan", "PLAN_STATE_SCHEMA"],
};

/** The file of each name. */
const homes = new Map<string, string>();

/** The declarations of one file. */
class Declarations {
  readonly #file: string;
  readonly #imports = new Map<string, Set<string>>();
  readonly #texts: string[] = [];

  constructor(file: string) {
    this.#file = file;
  }

  typeOf(schema: z.core.$ZodType): string {
    const known = TYPE_NAMES.get(schema as z.ZodType);
    if (known === undefined) return this.#shapeOf(schema);
    const home = homes.get(known.name);
    if (home === undefined) {
      homes.set(known.name, this.#file);
      const shape = this.#shapeOf(schema);
      const head = shape.startsWith("{") ? `interface ${known.name} ` : `type ${known.name} = `;
      this.#texts.push(`${comment(known.description, "")}export ${head}${shape}${shape.startsWith("{") ? "" : ";"}\n`);
    } else if (home !== this.#file) {
      this.#imports.set(home, (this.#imports.get(home) ?? new Set()).add(known.name));
    }
    return known.name;
  }

  toString(): string {
    const imports = [...this.#imports].map(([file, names]) =>
      `import type { ${[...names].join(", ")} } from "./${file}.ts";\n`
    );
    return `// Written by tools/declare.ts from a schema.\n// deno-fmt-ignore-file\n${imports.join("")}\n${
      this.#texts.join("\n")
    }`;
  }

  #shapeOf(schema: z.core.$ZodType): string {
    if (schema instanceof z.ZodObject) return this.#objectOf(schema);
    if (schema instanceof z.ZodArray) return `readonly ${inParentheses(this.typeOf(schema.element))}[]`;
    if (schema instanceof z.ZodUnion) return schema.options.map((option) => this.#optionOf(option)).join(" | ");
    if (schema instanceof z.ZodRecord) return `Readonly<Record<string, ${this.typeOf(schema.valueType)}>>`;
    if (schema instanceof z.ZodNullable) return `${this.typeOf(schema.unwrap())} | null`;
    if (schema instanceof z.ZodEnum) return schema.options.map((option) => JSON.stringify(option)).join(" | ");
    if (schema instanceof z.ZodLiteral) return [...schema.values].map((value) => JSON.stringify(value)).join(" | ");
    if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault) return this.typeOf(schema.unwrap());
    if (schema instanceof z.ZodPipe) return this.#filled(schema.in);
    if (schema instanceof z.ZodCustom) return "unknown";
    if (["string", "number", "boolean"].includes(schema._zod.def.type)) return schema._zod.def.type;
    throw new Error(`no type is known for a schema of the kind ${schema._zod.def.type}`);
  }

  /** A transformation gives a value that may be absent. */
  #filled(schema: z.core.$ZodType): string {
    const isOpen = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
    return isOpen ? this.#filled(schema.unwrap()) : this.typeOf(schema);
  }

  #optionOf(schema: z.core.$ZodType): string {
    return `${
      schema instanceof z.ZodObject && !TYPE_NAMES.has(schema) ? `\n${comment(descriptionOf(schema), "")}` : ""
    }${this.typeOf(schema)}`;
  }

  #objectOf({ shape }: z.ZodObject): string {
    // `$schema` is for editors alone.
    const entries = Object.entries(shape).filter(([key]) => !key.startsWith("$"));
    const lines = entries.map(([key, value]) => {
      const isOptional = value instanceof z.ZodOptional || value instanceof z.ZodExactOptional;
      const inner = this.typeOf(isOptional ? value.unwrap() : value);
      const type = isOptional && !(value instanceof z.ZodExactOptional) ? `${inner} | undefined` : inner;
      return `${comment(descriptionOf(value), "  ")}  readonly ${key}${isOptional ? "?" : ""}: ${
        type.replaceAll("\n", "\n  ")
      };\n`;
    });
    return `{\n${lines.join("")}}`;
  }
}

function descriptionOf(schema: z.core.$ZodType): string {
  const { description = "" } = schema as z.ZodType;
  const text = description.replaceAll("*/", "*\\/").replace(/^[a-z]/, (letter) => letter.toUpperCase());
  const ended = text === "" || /[.:?!…]$/.test(text) ? text : `${text}.`;
  return schema instanceof z.ZodDefault ? `${ended} @default ${JSON.stringify(schema._zod.def.defaultValue)}` : ended;
}

function comment(text: string, indent: string): string {
  return text === "" ? "" : `${indent}/** ${text.replaceAll("*/", "*\\/")} */\n`;
}

function inParentheses(type: string): string {
  return /^[\w.]+$|^\{/.test(type) ? type : `(${type})`;
}

async function schemasIn(folder: string): Promise<Readonly<Record<string, z.ZodType>> | null> {
  const path = new URL(`../lib/${folder}/schema.ts`, import.meta.url);
  return existsSync(path) ? await import(path.href) as Record<string, z.ZodType> : null;
}

const texts: Record<string, string> = {};
for (const [file, [folder, ...names]] of Object.entries(FILES)) {
  const schemas = await schemasIn(folder);
  const declarations = new Declarations(file);
  if (schemas !== null) { for (const name of names) declarations.typeOf(schemas[name]!); }
  texts[file] = String(declarations);
}
console.log(JSON.stringify(texts));
