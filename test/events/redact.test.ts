import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createRedactor, secretValues } from "../../lib/events/redact.ts";
import { plainText } from "../../lib/ui/text.ts";

describe("secretValues()", () => {
  test.each([
    ["ANTHROPIC_API_KEY", "abcdefgh1234", true],
    ["GITHUB_TOKEN", "abcdefgh1234", true],
    ["NPM_CONFIG__AUTHTOKEN", "abcdefgh1234", true],
    ["db_password", "abcdefgh1234", true],
    ["AZURE_PAT", "abcdefgh1234", true],
    ["DB_PASS", "abcdefgh1234", true],
    ["DATABASE_URL", "postgres://user:password@host/db", true],
    ["SENTRY_DSN", "https://abcdefgh1234@sentry.example", true],
    ["SLACK_WEBHOOK_URL", "https://hooks.example/abcdefgh1234", true],
    ["SESSION_COOKIE", "abcdefgh1234", true],
    ["NPM_CONFIG__AUTH", "abcdefgh1234", true],
    ["WALLET_SEED", "abcdefgh1234", true],
    ["PWD", "/home/dev/project", false],
    ["PATTERN", "abcdefgh1234", false],
    ["SSH_AUTH_SOCK", "/tmp/ssh-1234/agent", false],
    ["MY_TOKEN", "COMPLETE", false],
    ["AWS_SECRET_ACCESS_KEY", "abcdefgh1234", true],
    ["OPENAI_API_KEY2", "abcdefgh1234", true],
    ["API_KEY", "short", false],
    ["EDITOR", "abcdefgh1234", false],
    ["KEYBOARD", "abcdefgh1234", false],
    ["SSH_KEY_PATH", "/home/dev/.ssh/id", false],
  ])("secretValues() decides on %s=%s: %s", (name, value, secret) => {
    expect(secretValues({ [name]: value })).toEqual(secret ? expect.arrayContaining([value]) : []);
  });

  test("secretValues() lists the password in a URL alone, as it is there and decoded", () => {
    const values = secretValues({
      DATABASE_URL: "postgres://bob:dbpass%23w0rd@db:5432/x",
      HOME_URL: "https://a.example",
    });

    expect(values).toEqual(expect.arrayContaining(["dbpass%23w0rd", "dbpass#w0rd"]));
    expect(values.filter((value) => value.includes("bob")).every((value) => value.includes("db"))).toBe(true);
  });

  test("secretValues() also lists a value as JSON and URLs write it, and each of its lines", () => {
    const values = secretValues({ APP_SECRET: 'quote"and/\nsecond line' });

    expect(values).toEqual(expect.arrayContaining(['quote\\"and/', "quote%22and%2F", "quote%22and%2f", "second line"]));
  });

  test.each([64, 76])("secretValues() lists the lines of base64 that is broken after %i characters", (length) => {
    const secret = "correct horse battery staple, correct horse battery staple, correct horse battery";
    const redactor = createRedactor(secretValues({ APP_SECRET: secret }));
    const lines = Buffer.from(`${secret}\n`).toString("base64").match(new RegExp(`.{1,${length}}`, "g")) ?? [];

    expect(lines.length).toBeGreaterThan(1);
    for (const line of lines) expect(redactor.text(line)).toMatch(/^\*\*\*.{0,4}$/);
    expect(redactor.text(lines.join("\n"))).not.toContain(lines[0]);
  });

  test.each(["", "a", "ab", "abc"])("secretValues() lists what base64 makes of a value after %j", (before) => {
    const redactor = createRedactor(secretValues({ APP_SECRET: "correct horse battery" }));
    const encoded = Buffer.from(`${before}correct horse battery staple`).toString("base64");

    expect(redactor.text(encoded)).toMatch(/^.{0,5}\*\*\*.{0,12}$/);
  });
});

describe("createRedactor().text()", () => {
  const redactor = createRedactor(["hunter2hunter2", "hunter2hunter2-longer"]);

  test.each([
    ["nothing here", "nothing here"],
    ["p=hunter2hunter2;", "p=***;"],
    ["p=hunter2hunter2-longer;", "p=***;"],
    ["hunter2hunter2hunter2hunter2", "***"],
    ["key sk-ant-api03-AbCdEfGhIjKlMnOp1234 end", "key *** end"],
    ["ghp_0123456789abcdefghijABCDEFGHIJ012345", "***"],
    ["AWS=AKIAIOSFODNN7EXAMPLE", "AWS=***"],
    ["xoxb-123456789012-abcdef", "***"],
    ['{"text":"key:\\nghp_0123456789abcdefghijABCDEFGHIJ012345\\n"}', '{"text":"key:\\n***\\n"}'],
    ['{"text":"\\nunter2\\hunter2hunter2"}', '{"text":"\\nunter2***"}'],
    ["see https://user:pass@example.com/a?b=c", "see https://***@example.com/a?b=c"],
    ["-H 'Authorization: Basic dXNlcjpwYXNzd29yZA=='", "-H 'Authorization: ***'"],
    ["basic understanding of the problem", "basic understanding of the problem"],
    [
      `-----BEGIN RSA PRIVATE KEY-----\n${"MIIabc+/".repeat(8)}\nabc=\n-----END RSA PRIVATE KEY-----\nx`,
      "***-----END RSA PRIVATE KEY-----\nx",
    ],
    ["a mention of -----BEGIN PRIVATE KEY----- in prose", "a mention of -----BEGIN PRIVATE KEY----- in prose"],
    ["url?key=AIzaSyA0123456789abcdefghijklmnopqrstuv&x=1", "url?key=***&x=1"],
    ["Bearer eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.c2lnbmF0dXJl", "***"],
    ["the task-force-of-many-people-here", "the task-force-of-many-people-here"],
    ["sk-short", "sk-short"],
  ])("createRedactor().text() makes %j to %j", (text, masked) => {
    expect(redactor.text(text)).toBe(masked);
  });
});

const piece = fc.oneof(
  {
    arbitrary: fc.constantFrom(
      "sk-",
      "abcdabcd",
      "abcdabcdab",
      "ab",
      "abcd",
      "eyJ",
      " ",
      "\n",
      "ghp_",
      "x".repeat(20),
      "-",
      "é",
      "Bearer ",
      "1",
      "://",
      "u:p@",
      "-----BEGIN PRIVATE KEY-----\n",
      "MIIabc+/".repeat(6),
      "\\n",
      "\u001b[m",
      "\u001b[31",
      "\u0000",
      "\u200b",
      "\\u001b[m",
    ),
    weight: 5,
  },
  { arbitrary: fc.string({ maxLength: 6 }), weight: 1 },
);

/** Between any two characters of a secret: each shows nothing. */
const HIDDEN = [
  "\u001b[01;31m\u001b[K",
  "\u001b[m",
  "\u001b[38;2;255;100;100m",
  "\u001b]0;a title\u0007",
  "\u001b]8;;https://a.example\u001b\\",
  "\u0000",
  "\r",
  "\u200b",
  "\u2060",
  "\ufeff",
  "\u0085",
];

/** The text in parts of these sizes, one after the other. */
function streamed(redactor: ReturnType<typeof createRedactor>, text: string, sizes: readonly number[]): string {
  const bytes = Buffer.from(text);
  const masker = redactor.stream();
  const out: Uint8Array[] = [];
  let offset = 0;
  for (const size of sizes) {
    out.push(Buffer.from(masker.push(bytes.subarray(offset, offset + size))));
    offset += size;
  }
  out.push(Buffer.from(masker.push(bytes.subarray(offset))), masker.end());
  return Buffer.concat(out).toString();
}

describe("a secret that invisible characters split", () => {
  const key = `${"gh"}p_0123456789abcdefghijABCDEFGHIJ012345`;
  const value = "abandon ability able";
  const redactor = createRedactor([value, "hunter2hunter2"]);

  test.each(HIDDEN)("is masked whole, wherever %j is in it, and wherever the chunks part", (hidden) => {
    for (const secret of [key, value, "hunter2hunter2"]) {
      for (let at = 1; at < secret.length; at += 1) {
        const text = `k=${hidden}${secret.slice(0, at)}${hidden}${secret.slice(at)} z`;
        expect(redactor.text(text)).toBe(`k=${hidden}*** z`);
        for (let cut = 1; cut < text.length; cut += 5) expect(streamed(redactor, text, [cut])).toBe(`k=${hidden}*** z`);
        expect(streamed(redactor, text, Array.from(text, () => 1))).toBe(`k=${hidden}*** z`);
      }
      const each = [...secret].join(hidden);
      expect(redactor.text(`k=${each} z`)).toBe("k=*** z");
      expect(streamed(redactor, `k=${each} z`, Array.from(each, () => 3))).toBe("k=*** z");
    }
  });

  test("is masked as JSON writes it, and as JSON in JSON does", () => {
    for (const hidden of HIDDEN.filter((one) => !one.includes("\\"))) {
      const text = JSON.stringify({ text: `k=hunter2${hidden}hunter2 z` }).replaceAll(
        /[\u007f-\uffff]/g,
        (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
      );
      expect(redactor.text(text)).toBe('{"text":"k=*** z"}');
      expect(redactor.text(JSON.stringify(text))).toBe(JSON.stringify('{"text":"k=*** z"}'));
    }
  });

  test("is masked where it is longer than what is held back, and after a word that a colour ends", () => {
    const long = Array.from({ length: 500 }, () => "Ab1").join("\u001b[m");
    expect(streamed(redactor, `a sk-${long} b`, Array.from({ length: 90 }, () => 40))).toBe("a *** b");
    expect(redactor.text(`TOKEN\u001b[32m${key}\u001b[m z`)).toBe("TOKEN\u001b[32m***\u001b[m z");
  });

  test("leaves text in which no secret is as it was, and holds back no endless flood", () => {
    const text = HIDDEN.join("a b\n").repeat(20);
    expect(redactor.text(text)).toBe(text);
    expect(streamed(redactor, text, Array.from(text, () => 7))).toBe(text);
    const masker = redactor.stream();
    const got = Array.from({ length: 40 }, () => masker.push(Buffer.alloc(4096)).length);
    expect(got.at(-1)).toBe(4096);
  });
});

describe("createRedactor().stream()", () => {
  test("createRedactor().stream() looks for no key inside of one that was masked in an earlier chunk", () => {
    const redactor = createRedactor(["abcdabcdab"]);
    const text = `sk-${"x".repeat(20)}Bearer abcdabcdab1Bearer `; // `Bearer abc…` begins inside of the key
    const masker = redactor.stream();
    const masked = [text.slice(0, 30), text.slice(30)].map((part) => Buffer.from(masker.push(Buffer.from(part))));

    expect(Buffer.concat([...masked, masker.end()]).toString()).toBe("*** ***1Bearer ");
    expect(redactor.text(text)).toBe("*** ***1Bearer ");
  });

  test("createRedactor().stream() gives the same for any split, and lets no secret through", () => {
    const secrets = ["abcdabcd", "abcdabcdab", "dab\nabcdab"];
    const redactor = createRedactor(secrets);
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.array(fc.nat(60), { maxLength: 40 }), (pieces, sizes) => {
        const text = Buffer.from(pieces.join("")).toString();
        const masked = streamed(redactor, text, sizes);

        expect(masked).toBe(redactor.text(text));
        for (const secret of secrets.slice(0, 2)) expect(plainText(masked)).not.toContain(secret);
        for (const secret of secrets) expect(masked).not.toContain(secret);
        expect(masked).not.toMatch(/(?<![A-Za-z0-9*])sk-[A-Za-z0-9_.-]{17,}/);
      }),
      { numRuns: 3000 },
    );
  });

  test("createRedactor().stream() masks a key longer than all chunks, and continues after it", () => {
    const masker = createRedactor([]).stream();
    const out = [..."a sk-", ...Array.from({ length: 500 }, () => "Ab1"), " b"]
      .map((part) => Buffer.from(masker.push(Buffer.from(part))).toString());

    expect(out.join("") + Buffer.from(masker.end()).toString()).toBe("a *** b");
  });
});
