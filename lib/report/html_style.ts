/** The report's looks: dark and light, wide and narrow, on paper; nothing is fetched. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --card: #ffffff; --line: #e3e3df; --text: #1d1f21; --dim: #63676c; --code: #f1f1ee;
  --good: #1a7f4b; --warn: #96640a; --bad: #c0312b; --plain: #3b6fb6;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #16181a; --card: #1e2124; --line: #33373c; --text: #e6e7e8; --dim: #9aa0a6; --code: #282c30;
    --good: #58c98b; --warn: #e0b252; --bad: #f0807a; --plain: #86b3ee;
  }
}
* { box-sizing: border-box; }
html { background: var(--ground); color: var(--text); -webkit-text-size-adjust: 100%; }
body { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .75rem; }
p { margin: .25rem 0; }
.dim { color: var(--dim); }
.run { color: var(--dim); font-weight: 400; font-size: 1rem; display: block; }
.good { color: var(--good); } .warn { color: var(--warn); } .bad { color: var(--bad); } .plain { color: var(--plain); }
.mark { display: inline-block; width: 1.25em; flex: none; font-weight: 600; }
.bar { display: flex; gap: 3px; height: .5rem; margin: 1rem 0 0; }
.bar span { border-radius: 3px; background: currentColor; }
.next { border-left: 3px solid var(--plain); padding: .25rem 0 .25rem .75rem; margin: 1rem 0 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: 1.25rem 0 0; }
dt { color: var(--dim); }
dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
code, pre { font: .85em/1.45 ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; }
code { background: var(--code); border-radius: 4px; padding: .1em .35em; overflow-wrap: anywhere; }
pre { background: var(--code); border-radius: 6px; padding: .6rem .75rem; margin: .4rem 0 .6rem; overflow-x: auto; max-height: 24rem; }
ul { list-style: none; padding: 0; margin: 0; }
li { margin: .35rem 0; overflow-wrap: anywhere; }
.row { display: flex; }
.row > div { min-width: 0; flex: 1; }
details, .card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; margin: .5rem 0; }
.card { padding: .5rem .9rem; }
summary { display: flex; gap: .25rem; padding: .6rem .9rem; cursor: pointer; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary:focus-visible { outline: 2px solid var(--plain); outline-offset: 2px; border-radius: 8px; }
summary .title { flex: 1; min-width: 0; overflow-wrap: anywhere; }
summary .id { font-weight: 600; margin-right: .4rem; }
summary .side { color: var(--dim); font-size: .85rem; text-align: right; padding-top: .1rem; }
.inside { border-top: 1px solid var(--line); padding: .6rem .9rem .8rem; }
.row ul { margin-bottom: .75rem; }
@media (max-width: 34rem) {
  body { padding: 1.25rem .75rem 3rem; }
  dl { grid-template-columns: 1fr; gap: 0; }
  dd { margin-bottom: .5rem; }
  summary { flex-wrap: wrap; }
  summary .side { width: 100%; text-align: left; padding-left: 1.5rem; }
}
@media print { body { max-width: none; } pre { max-height: none; white-space: pre-wrap; } }
`;
