import { isPlain, type Plain, tryJson } from "./plain.ts";

/** Beginnings of an object that are tried: an answer full of braces is not searched for ever. */
const TRIES = 500;

/** The JSON objects of the accepted form within an agent's answer, fences and words around them or not. Pure. */
export function objectsIn(answer: string, accepts: (object: Plain) => boolean): readonly Plain[] {
  const found: Plain[] = [];
  let tries = 0;
  for (let start = answer.indexOf("{"); start !== -1 && tries < TRIES; start = answer.indexOf("{", start + 1)) {
    if (!/^\{\s*"/.test(answer.slice(start, start + 200))) continue;
    tries += 1;
    const end = endOfObject(answer, start);
    const object = end === null ? undefined : tryJson(answer.slice(start, end));
    if (!isPlain(object) || !accepts(object)) continue;
    found.push(object);
    start = end! - 1;
  }
  return found;
}

/** The end of the object that begins there: braces within strings do not count. */
function endOfObject(text: string, start: number): number | null {
  const tokens = /"(?:[^"\\]|\\[\s\S])*"|[{}]/g;
  tokens.lastIndex = start;
  let depth = 0;
  for (let token = tokens.exec(text); token !== null; token = tokens.exec(text)) {
    if (token[0] === "{") depth += 1;
    if (token[0] === "}") depth -= 1;
    if (depth === 0) return tokens.lastIndex;
  }
  return null;
}
