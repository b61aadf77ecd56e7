/** The looks that the report and the page share: dark and light, texts and code; nothing is fetched from elsewhere. */
export const BASE_STYLE = `
:root {
  color-scheme: light dark;
  --ground: #f6f7f8; --card: #ffffff; --line: #dfe2e6; --soft: #eceff2; --text: #16191d; --dim: #565e68; --code: #f1f3f5;
  --good: #12733f; --warn: #8a5600; --bad: #b3261e; --plain: #2459b8;
  --good-soft: #e2f4e9; --warn-soft: #fcf0d9; --bad-soft: #fce6e4; --plain-soft: #e4edfc;
  --shadow: 0 1px 2px rgb(16 24 40 / .06);
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #0e1013; --card: #16191d; --line: #2a2f36; --soft: #21262c; --text: #e8eaed; --dim: #9ba4af; --code: #20252b;
    --good: #5bd08f; --warn: #e9b44c; --bad: #ff8a80; --plain: #8ab4f8;
    --good-soft: #12301f; --warn-soft: #33260b; --bad-soft: #3a1816; --plain-soft: #162743;
    --shadow: none;
  }
}
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--text); -webkit-text-size-adjust: 100%; }
body { margin: 0; font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
p { margin: .2rem 0; overflow-wrap: anywhere; }
ul, ol { list-style: none; margin: 0; padding: 0; }
.dim, small { color: var(--dim); }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); } .plain { color: var(--plain); }
.mark { display: inline-block; min-width: 1.2em; font-weight: 700; }
code, pre { font: .85em/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--code); border-radius: 5px; padding: .1em .35em; overflow-wrap: anywhere; }
pre { background: var(--code); border-radius: 8px; padding: .7rem .9rem; margin: .5rem 0; overflow: auto; max-height: 28rem; white-space: pre; }
summary { cursor: pointer; overflow-wrap: anywhere; }
:focus-visible { outline: 2px solid var(--plain); outline-offset: 2px; border-radius: 6px; }
`;
