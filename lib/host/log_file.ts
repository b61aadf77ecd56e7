import type { Appender } from "./appender.ts";
import { openAppender } from "./files.ts";

/** No log grows further, however long a process prints: the disk is there for the work. */
export const LOG_BYTES: number = 64 * 2 ** 20;
/** The end of a longer one is kept as well. */
const END_BYTES = 64 * 2 ** 10;

/** Opens a log of what a process prints: its first 64 MiB and its end are kept. @throws {RalphError} file-unwritable */
export async function openLog(path: string): Promise<Pick<Appender, "write" | "close">> {
  const log = await openAppender(path);
  let room = LOG_BYTES;
  let beyond = 0;
  let end = new Uint8Array();
  return {
    write(chunk) {
      const fits = chunk.subarray(0, room);
      if (fits.length > 0) log.write(fits);
      room -= fits.length;
      const rest = chunk.subarray(fits.length);
      if (rest.length === 0) return;
      beyond += rest.length;
      end = Buffer.concat([end, rest.subarray(-END_BYTES)]).subarray(-END_BYTES);
    },
    async close() {
      const lost = beyond - end.length;
      if (lost > 0) log.write(Buffer.from(`\n… ${lost} bytes are not kept …\n`));
      if (end.length > 0) log.write(end);
      end = new Uint8Array();
      beyond = 0;
      await log.close();
    },
  };
}
