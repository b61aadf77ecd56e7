import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFooter } from "../../lib/host/terminal.ts";
import { createScreen } from "./screen.ts";

const WIDTH = 80;

/** A footer on a screen, written to as the terminal does it. */
function world() {
  const screen = createScreen();
  const footer = createFooter();
  return {
    screen,
    footer,
    show: (...lines: readonly string[]) => screen.write(footer.show(lines, WIDTH)),
    write: (text: string) => screen.write(footer.lift() + text + footer.drop(WIDTH, !text.endsWith("\n"))),
    lock: () => screen.write(footer.lock()),
    unlock: () => screen.write(footer.unlock(WIDTH)),
  };
}

describe("createFooter()", () => {
  test("stands below what is written, and leaves nothing behind", () => {
    const { screen, show, write } = world();

    write("one\n");
    show("first", "second", "third");
    write("two\n");
    expect(screen.lines()).toEqual(["one", "two", "first", "second", "third"]);
    show("1st");
    expect(screen.lines()).toEqual(["one", "two", "1st"]);
    show();
    write("three\n");
    expect(screen.lines()).toEqual(["one", "two", "three"]);
    expect(screen.column).toBe(0);
  });

  test("the same lines again are not written again", () => {
    const { footer } = world();
    footer.show(["a", "b"], WIDTH);

    expect(footer.show(["a", "b"], WIDTH)).toBe("");
    expect(footer.show(["a", "c"], WIDTH)).not.toBe("");
  });

  test("a line that is not ended yet is not written over", () => {
    const { screen, show, write } = world();

    show("footer");
    write("Is it so? ");
    show("footer 2");
    expect(screen.lines()).toEqual(["Is it so?"]);
    write("yes\n");
    expect(screen.lines()).toEqual(["Is it so? yes", "footer 2"]);
  });

  test("away while somebody else has the terminal, however often it changes meanwhile", () => {
    const { screen, show, write, lock, unlock } = world();

    show("footer");
    lock();
    lock();
    screen.write("somebody else's\r\n");
    show("footer 2");
    write("ours\n");
    unlock();
    expect(screen.lines()).toEqual(["somebody else's", "ours"]);
    unlock();
    expect(screen.lines()).toEqual(["somebody else's", "ours", "footer 2"]);
  });

  test("at another width it stays away until it is drawn for that", () => {
    const { screen, footer, show } = world();
    show("footer");

    screen.write(`${footer.lift()}text\n${footer.drop(40, false)}`);
    expect(screen.lines()).toEqual(["text"]);
    screen.write(footer.show(["foot"], 40));
    expect(screen.lines()).toEqual(["text", "foot"]);
  });

  test("a line that somebody writes past it is kept", () => {
    const { screen, show } = world();

    show("footer", "second");
    screen.write("somebody\n");
    show("footer!", "second");

    expect(screen.lines()).toEqual(["somebody", "footer!", "second"]);
  });

  test("whatever happens: what was written, then the footer, if nobody else has the terminal", () => {
    const line = fc.constantFrom("a", "bb", "a longer line", "x".repeat(60));
    const action = fc.oneof(
      fc.record({ write: line }),
      fc.record({ show: fc.array(line, { maxLength: 3 }) }),
      fc.record({ lock: fc.boolean() }),
    );
    fc.assert(fc.property(fc.array(action, { maxLength: 40 }), (actions) => {
      const { screen, show, write, lock, unlock } = world();
      const written: string[] = [];
      let shown: readonly string[] = [];
      let locks = 0;
      for (const step of actions) {
        if ("write" in step) {
          write(`${step.write}\n`);
          written.push(step.write);
        } else if ("show" in step) show(...shown = step.show);
        else if (step.lock) {
          lock();
          locks += 1;
        } else if (locks > 0) {
          unlock();
          locks -= 1;
        }
        expect(screen.lines()).toEqual([...written, ...(locks === 0 ? shown : [])]);
        expect(screen.column).toBe(0);
      }
    }));
  });
});
