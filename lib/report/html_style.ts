import { BASE_STYLE } from "./base_style.ts";

/** The report's looks, wide and narrow, on paper. */
export const STYLE: string = `${BASE_STYLE}
body { font-size: 16px; max-width: 60rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; overflow-wrap: anywhere; }
h2 { font-size: 1.1rem; margin: 2.25rem 0 .75rem; }
.run { color: var(--dim); font-weight: 400; font-size: 1rem; display: block; }
.mark { flex: none; }
.bar { display: flex; gap: 3px; height: .5rem; margin: 1rem 0 0; }
.bar span { border-radius: 3px; background: currentColor; }
.next { border-left: 3px solid var(--plain); padding: .25rem 0 .25rem .75rem; margin: 1rem 0 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1.25rem; margin: 1.25rem 0 0; }
dt { color: var(--dim); }
dd { margin: 0; overflow-wrap: anywhere; min-width: 0; }
li { margin: .35rem 0; overflow-wrap: anywhere; }
.row { display: flex; }
.row > div { min-width: 0; flex: 1; }
details, .card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; margin: .5rem 0; }
.card { padding: .5rem .9rem; }
summary { display: flex; gap: .25rem; padding: .6rem .9rem; list-style: none; }
summary::-webkit-details-marker { display: none; }
summary .title { flex: 1; min-width: 0; }
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
