import { mapTexts } from "../../host/data.ts";
import type { Call, Message } from "./models.ts";

/** A picture that the model is shown. */
export interface Picture {
  readonly path: string;
  readonly mediaType: string;
  readonly data: Uint8Array;
}

/** The part of the context that a conversation may fill before old results are dropped, and what is left then. */
const FULL = 0.6;
const ENOUGH = 0.35;
/** The newest results stay whole. */
const KEPT_RESULTS = 3;
const CHARACTERS_A_TOKEN = 3.5;
const PICTURE_TOKENS = 1500;
const DROPPED = "(this output was dropped to save room: call the tool again where it is needed)";
const LONG_INPUT = 2000;

/** The messages of one turn, kept within the model's context. */
export class Conversation {
  readonly #context: number;
  #messages: Message[] = [];
  #charactersAToken = CHARACTERS_A_TOKEN;

  /** @param context tokens */
  constructor(context: number) {
    this.#context = context;
  }

  get messages(): readonly Message[] {
    return this.#messages;
  }

  /** Words for the model, with pictures. */
  say(text: string, pictures: readonly Picture[] = []): void {
    const images = pictures.map(({ data, mediaType }) => ({ type: "file", data, mediaType } as const));
    this.#messages.push({ role: "user", content: images.length === 0 ? text : [{ type: "text", text }, ...images] });
  }

  /** Adds the model's answer. */
  add(messages: readonly Message[]): void {
    this.#messages.push(...messages);
  }

  /** Adds a tool's result. */
  result({ id, name }: Pick<Call, "id" | "name">, ok: boolean, value: string): void {
    const output = { type: ok ? "text" : "error-text", value } as const;
    this.#messages.push({ role: "tool", content: [{ type: "tool-result", toolCallId: id, toolName: name, output }] });
  }

  /** How many tokens the last request had, as its server counted them: later estimates follow it. */
  counted(tokens: number, characters: number): void {
    if (tokens > 500) this.#charactersAToken = Math.min(8, Math.max(1, characters / tokens));
  }

  /** The characters that are sent, without pictures. */
  get characters(): number {
    return this.#messages.reduce((sum, message) => sum + sizeOf(message), 0);
  }

  /** An estimate. */
  get tokens(): number {
    return this.characters / this.#charactersAToken + this.#pictures * PICTURE_TOKENS;
  }

  get #pictures(): number {
    return this.#messages.reduce((sum, message) => sum + filesIn(message), 0);
  }

  get hasPictures(): boolean {
    return this.#pictures > 0;
  }

  /**
   * Drops old tool results where the conversation fills too much of the context.
   *
   * @param when `at-once`: the server says that it is too long
   * @returns whether something was dropped
   */
  fit(when: "at-once" | "full" = "full"): boolean {
    const force = when === "at-once";
    if (!force && this.tokens <= this.#context * FULL) return false;
    const enough = force ? 0 : this.#context * ENOUGH;
    const results = this.#messages.flatMap(({ role }, index) => role === "tool" ? [index] : []);
    const old = results.slice(0, Math.max(0, results.length - (force ? 1 : KEPT_RESULTS)));
    let dropped = false;
    for (let index = 0; index <= (old.at(-1) ?? -1) && this.tokens > enough; index += 1) {
      const before = this.#messages[index]!;
      const after = shortened(before);
      if (after === before) continue;
      this.#messages[index] = after;
      dropped = true;
    }
    return dropped;
  }

  /** The model takes no pictures. */
  dropPictures(): void {
    this.#messages = this.#messages.map((message) =>
      message.role !== "user" || typeof message.content === "string" ? message : {
        ...message,
        content: message.content.map((part) =>
          part.type === "text" ? part : { type: "text", text: "(a picture, which the model does not take)" } as const
        ),
      }
    );
  }
}

function sizeOf({ content }: Message): number {
  if (typeof content === "string") return content.length;
  let size = 0;
  for (const part of content) if (part.type !== "file" && part.type !== "image") size += JSON.stringify(part).length;
  return size;
}

function filesIn({ role, content }: Message): number {
  if (role !== "user" || typeof content === "string") return 0;
  return content.filter(({ type }) => type === "file" || type === "image").length;
}

/** An old message without long outputs and long inputs; the same where it has none. */
function shortened(message: Message): Message {
  if (message.role === "tool") {
    const content = message.content.map((part) =>
      part.type === "tool-result" && JSON.stringify(part.output).length > DROPPED.length + 40
        ? { ...part, output: { type: "text", value: DROPPED } as const }
        : part
    );
    return content.every((part, index) => part === message.content[index]) ? message : { ...message, content };
  }
  if (message.role !== "assistant" || typeof message.content === "string") return message;
  const short = (text: string): string =>
    text.length > LONG_INPUT ? `${text.slice(0, 200)} … (${text.length} characters)` : text;
  const content = message.content.map((part) =>
    part.type === "tool-call" ? { ...part, input: mapTexts(part.input, short) } : part
  );
  return JSON.stringify(content).length === JSON.stringify(message.content).length ? message : { ...message, content };
}
