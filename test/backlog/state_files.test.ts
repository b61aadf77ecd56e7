import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { createStateFiles, type StateFiles } from "../../lib/backlog/state_files.ts";
import { createHost } from "../../lib/host/create_host.ts";
import { temporaryDirectory } from "../../lib/host/files.ts";

interface Place extends AsyncDisposable {
  readonly root: string;
  readonly state: StateFiles;
  read(): Promise<string>;
  write(text: string): Promise<void>;
}

async function place(): Promise<Place> {
  const folder = await temporaryDirectory("ralph-state");
  const root = folder.path;
  return {
    root,
    state: createStateFiles({ root, directory: join(root, "own"), host: createHost() }),
    read: () => readFile(join(root, "a.txt"), "utf8"),
    write: (text) => writeFile(join(root, "a.txt"), text),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  };
}

const more = (line: string) => (text: string | null): string => `${text ?? ""}${line}\n`;

describe("update()", () => {
  test("writes the shadow copy before the file: a write that was cut off is made up for", async () => {
    await using here = await place();
    await mkdir(join(here.root, "a.txt")); // the file cannot be written

    await expect(here.state.update("a.txt", more("one"))).rejects.toThrow("a.txt");

    expect(await here.state.edited(["a.txt"])).toEqual([{ path: "a.txt", found: null, written: "one\n" }]);
  });
});

describe("edited()", () => {
  test("sees no manual edit while Ralph itself is writing", async () => {
    await using here = await place();
    await here.state.update("a.txt", () => "0");
    let at = 1;

    const writing = (async (): Promise<void> => {
      for (; at < 60; at++) await here.state.update("a.txt", () => String(at));
    })();
    const seen: unknown[] = [];
    while (at < 60) {
      seen.push(...await here.state.edited(["a.txt"]));
      await new Promise((done) => setImmediate(done)); // a sync of the writer's ends between two turns of the event loop
    }
    await writing;

    expect(seen).toEqual([]);
  });
});

describe("update() of files that are held", () => {
  test("is an update where nothing was edited manually", async () => {
    await using here = await place();
    await here.state.hold(["a.txt"]);

    expect(await here.state.update("a.txt", more("one"))).toBe("one\n");
    expect(await here.state.update("a.txt", (text) => text)).toBe("one\n");
    expect(await here.state.edited(["a.txt"])).toEqual([]);
  });

  test("changes Ralph's version and the edited one, so that the manual edit is still seen and put back", async () => {
    await using here = await place();
    await here.state.update("a.txt", more("one"));
    await here.state.hold(["a.txt"]);
    await here.write("by hand\n");

    expect(await here.state.update("a.txt", more("two"))).toBe("by hand\ntwo\n");
    const edits = await here.state.edited(["a.txt"]);
    expect(edits).toEqual([{ path: "a.txt", found: "by hand\ntwo\n", written: "one\ntwo\n" }]);
    await here.state.restore(edits);
    expect(await here.read()).toBe("one\ntwo\n");
  });

  test("loses no manual edit that is written while it writes", async () => {
    await using here = await place();
    await here.state.update("a.txt", () => "0\n");
    await here.state.hold(["a.txt"]);
    for (let round = 1; round <= 100; round++) {
      const amended = here.state.update("a.txt", more(`own ${round}`));
      await new Promise((resolve) => setTimeout(resolve, round % 9));
      appendFileSync(join(here.root, "a.txt"), `hand ${round}\n`);
      await amended;

      expect(await here.read()).toContain(`hand ${round}\n`);
      const [edit] = await here.state.edited(["a.txt"]);
      expect(edit?.written).toContain(`own ${round}\n`);
    }
  });

  test("leaves alone what cannot be changed, and fails where neither can", async () => {
    await using here = await place();
    await here.state.update("a.txt", more("one"));
    await here.state.hold(["a.txt"]);
    await here.write("broken");
    const strict = (text: string | null): string => {
      if (text === "broken") throw new Error("cannot read it");
      return `${text}two\n`;
    };

    expect(await here.state.update("a.txt", strict)).toBe("broken");
    expect((await here.state.edited(["a.txt"]))[0]?.written).toBe("one\ntwo\n");
    await expect(here.state.update("a.txt", () => {
      throw new Error("neither");
    })).rejects.toThrow("neither");
  });
});

describe("a file that another program writes meanwhile", () => {
  test("transact() begins again with what the file holds", async () => {
    await using here = await place();
    await here.state.update("a.txt", () => "0\n");
    let begun = 0;
    await here.state.transact("a.txt", async (text, write) => {
      begun += 1;
      if (begun < 3) appendFileSync(join(here.root, "a.txt"), `hand ${begun}\n`);
      await write(`${text}own\n`);
    });

    expect([begun, await here.read()]).toEqual([3, "0\nhand 1\nhand 2\nown\n"]);
  });

  test("a file that appears where there was none is not overwritten", async () => {
    await using here = await place();
    await here.state.update("a.txt", (text) => {
      if (text === null) appendFileSync(join(here.root, "a.txt"), "by hand\n");
      return `${text ?? ""}own\n`;
    });

    expect(await here.read()).toBe("by hand\nown\n");
  });

  test("what an editor puts in its place as a new file is kept as well", async () => {
    await using here = await place();
    await here.state.update("a.txt", () => "0\n");
    let saved = false;
    await here.state.update("a.txt", (text) => {
      if (!saved) {
        writeFileSync(join(here.root, "b.txt"), `${text}by hand\n`);
        renameSync(join(here.root, "b.txt"), join(here.root, "a.txt"));
      }
      saved = true;
      return `${text}own\n`;
    });

    expect(await here.read()).toBe("0\nby hand\nown\n");
  });
});
