/**
 * Prints the TypeScript types of schemas as JSON: the text of one file of lib/generated for each row of `FILES`, with the
 * schemas' descriptions as comments. `tools/generate.mjs` writes them.
 */
import { z } from "zod";
import { TYPE_NAMES } from "../lib/config/parts.ts";
import { ATTEST_SCHEMA } from "../lib/attest/schema.ts";
import { CONFIG_SCHEMA } from "../lib/config/schema.ts";
import { EVENT_SCHEMA } from "../lib/events/schema.ts";
import { GATE_SCHEMA, REPORT_SCHEMA } from "../lib/report/schema.ts";
import { LIVE_RUN, REPLY, REQUEST } from "../lib/steer/schema.ts";
import { CLAIM_SCHEMA, UPDATE_SCHEMA } from "../lib/trackers/schema.ts";
import { PLAN_STATE_SCHEMA } from "../lib/workflows/exec/plan/schema.ts";

/** A file may use the types of the files above it. */
const FILES: Readonly<Record<string, readonly z.ZodType[]>> = {
  config: [CONFIG_SCHEMA],
  events: [EVENT_SCHEMA],
  report: [REPORT_SCHEMA, GATE_SCHEMA],
  steer: [LIVE_RUN, REQUEST, REPLY],
  attest: [ATTEST_SCHEMA],
  trackers: [CLAIM_SCHEMA, UPDATE_SCHEMA],
  plan: [PLAN_STATE_SCHEMA],
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

const texts = Object.entries(FILES).map(([file, roots]) => {
  const declarations = new Declarations(file);
  for (const root of roots) declarations.typeOf(root);
  return [file, String(declarations)] as const;
});
console.log(JSON.stringify(Object.fromEntries(texts)));
