import { linkAt, namesIn } from "./looks.ts";
import { listPids, outputOf, readOrNull } from "./process_table.ts";

/** A process that listens on a port. */
export interface PortOwner {
  readonly pid: number;
  /** Its command line, shortened. */
  readonly command: string;
}

/** Which process of this machine listens on a TCP port, or `null` where that is not known. */
export async function portOwner(port: number): Promise<PortOwner | null> {
  return fromProc(port) ?? await fromLsof(port);
}

function fromProc(port: number): PortOwner | null {
  const inodes = new Set(
    ["/proc/net/tcp", "/proc/net/tcp6"].flatMap((file) => listening(readOrNull(file) ?? "", port)),
  );
  if (inodes.size === 0) return null;
  for (const pid of listPids() ?? []) {
    for (const descriptor of namesIn(`/proc/${pid}/fd`)) {
      const inode = /^socket:\[(\d+)\]$/.exec(linkAt(`/proc/${pid}/fd/${descriptor}`))?.[1];
      if (inode === undefined || !inodes.has(inode)) continue;
      const command = (readOrNull(`/proc/${pid}/cmdline`) ?? "").replaceAll("\0", " ").trim();
      return { pid, command: command.slice(0, 200) };
    }
  }
  return null;
}

/** Inodes of the sockets that listen (state 0A) on the port. */
function listening(table: string, port: number): readonly string[] {
  const hex = port.toString(16).toUpperCase().padStart(4, "0");
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
    return local.endsWith(`:${hex}`) && state === "0A" && inode !== undefined ? [inode] : [];
  });
}

async function fromLsof(port: number): Promise<PortOwner | null> {
  if (process.platform === "win32") return null;
  const listed = await outputOf("lsof", ["-nP", `-iTCP:${port}`, "-sTCP:LISTEN", "-Fpc"]);
  const pid = /^p(\d+)$/m.exec(listed)?.[1];
  return pid === undefined ? null : { pid: Number(pid), command: /^c(.+)$/m.exec(listed)?.[1] ?? "" };
}
