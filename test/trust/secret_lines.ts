/** In two halves, so that this file itself holds nothing that looks like a key. */
const SHAPES: readonly (readonly [begins: string, continues: string])[] = [
  ["sk-", "ant-api03-AbCdEfGhIjKlMnOpQrStUvWxYz0123456789"],
  ["sk-", "proj-Zz11AbCdEfGhIjKlMnOpQrStUvWxYz0123"],
  ["sk_", "live_51HabcdefghijklmnopqrSTUV"],
  ["rk_", "live_51HabcdefghijklmnopqrSTUW"],
  ["whsec_", "abcdefghijklmnopqrstuvwxyz0123"],
  ["gh", "p_IIIIabcdefghijklmnopqrstuvwxyz012345"],
  ["gh", "o_IIIIabcdefghijklmnopqrstuvwxyz012346"],
  ["gh", "s_IIIIabcdefghijklmnopqrstuvwxyz012347"],
  ["github_", "pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz"],
  ["glp", "at-abcdefghij1234567890"],
  ["np", "m_abcdefghijklmnopqrstuvwxyz0123456789"],
  ["pypi", "-AgEIcHlwaS5vcmcCJDAwMDAwMDAw"],
  ["hf", "_abcdefghijklmnopqrstuvwxyzABCDEFGH"],
  ["AKI", "AIOSFODNN7EXAMPLE"],
  ["ASI", "AIOSFODNN7EXAMPLE"],
  ["AIz", "aSyA0123456789abcdefghijklmnopqrstu"],
  ["ya29", ".a0AfH6SMBabcdefghijklmnopqrstuvwx"],
  ["GOCS", "PX-abcdefghijklmnopqrstuvwxyz01"],
  ["xox", "b-123456789012-abcdefABCDEF"],
  ["xap", "p-1-A0123456789-0123456789-abcdef"],
  ["SG", ".abcdefghijklmnopqrstuv.ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefg"],
  ["shp", "at_0123456789abcdef0123456789abcdef"],
  ["dop", "_v1_0123456789abcdef0123456789abcdef0123456789abcdef"],
  ["dckr", "_pat_abcdefghijklmnopqrstuvwx"],
  ["hvs", ".CAESIabcdefghijklmnopqrstuvwxyz"],
  ["lin", "_api_abcdefghijklmnopqrstuvwxyz01"],
  ["ey", "JhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.c2lnbmF0dXJlLW9mLXRva2Vu"],
];

/** The environment of a run whose values are secrets. */
export const VARIABLES = {
  DEPLOY_PAT: "plain-value-of-a-pat-1",
  DB_PASS: "p@ss/word with spaces+1",
  DATABASE_URL: "postgres://app:hunter2hunter2@db.example/app",
  SENTRY_DSN: "https://0123456789abcdef@sentry.example/1",
  SLACK_WEBHOOK_URL: "https://hooks.example/T000/B000/wwwwxxxxyyyy",
  SESSION_COOKIE: "session-cookie-value-42",
  WALLET_SEED: "abandon ability able about above absent",
  SIGNING_KEY: "first-line-of-the-key\nsecond-line-of-the-key",
};

const BODY = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7";
const PEM = `-----BEGIN ${"PRIVATE"} KEY-----\n${BODY}\n${BODY}\n-----END ${"PRIVATE"} KEY-----`;

/** Lines as a process may print them, each with what must not be seen of it. */
export function printed(): readonly (readonly [line: string, hidden: string])[] {
  const shaped = SHAPES.flatMap(([begins, continues]) => {
    const key = begins + continues;
    return [key, `token=${key};`, `  "key": "${key}",`, JSON.stringify({ text: `line\n${key}\nline` })]
      .map((line) => [line, key] as const);
  });
  const known = Object.values(VARIABLES).flatMap((value) =>
    value.split("\n").flatMap((secret) => [
      [`x ${secret} y`, secret] as const,
      [`x ${encodeURIComponent(secret)} y`, encodeURIComponent(secret)] as const,
      ...["", "a", "ab"].map((before) => {
        const encoded = Buffer.from(`${before}${secret}`).toString("base64");
        return [encoded, encoded.slice(4, -4)] as const;
      }),
    ])
  );
  return [
    ...shaped,
    ...known,
    ["Authorization: Bearer abcdef0123456789abcdef", "abcdef0123456789abcdef"],
    ["authorization: Basic dXNlcjpwYXNzd29yZDEyMw==", "dXNlcjpwYXNzd29yZDEyMw=="],
    ["git clone https://ada:s3cr3tpassword@example.com/a.git", "s3cr3tpassword"],
    [PEM, BODY],
    [JSON.stringify({ text: PEM }), BODY],
  ];
}
