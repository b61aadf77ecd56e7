import { extname } from "node:path";
import { readBytes } from "../../host/files.ts";
import type { Picture } from "./conversation.ts";

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  ".png": "image/png",
  ".jpg": "image/jpeg",
  ".jpeg": "image/jpeg",
  ".webp": "image/webp",
  ".gif": "image/gif",
};
/** Servers refuse larger ones. */
const LARGEST_PICTURE = 4 * 1024 * 1024;

/** A picture file; `null` for one that is missing, too large, or none by its name. @param file absolute path */
export async function readPicture(file: string, path: string): Promise<Picture | null> {
  const mediaType = MEDIA_TYPES[extname(file).toLowerCase()];
  if (mediaType === undefined) return null;
  const data = await readBytes(file, LARGEST_PICTURE).catch(() => null);
  return data === null || data.length === 0 ? null : { path, mediaType, data };
}
