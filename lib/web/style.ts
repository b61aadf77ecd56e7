import { BASE_STYLE } from "../report/base_style.ts";

/** The page's looks, wide and narrow. */
export const PAGE_STYLE: string = `${BASE_STYLE}
main { max-width: 100rem; margin: 0 auto; padding: 1.25rem 1.5rem 4rem; display: flex; flex-direction: column; gap: 1rem; }
main:focus { outline: none; }
h1 { font-size: 1.5rem; line-height: 1.3; margin: 0; letter-spacing: -.01em; overflow-wrap: anywhere; }
h2 { font-size: .95rem; line-height: 1.4; margin: 0 0 .5rem; font-weight: 600; }
h3 { font-size: .85rem; margin: 0 0 .5rem; font-weight: 600; }
a { color: inherit; text-decoration-color: var(--line); text-underline-offset: .2em; }
a:hover { text-decoration-color: currentColor; }
small { font-weight: 400; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: .5rem; top: -4rem; background: var(--card); padding: .5rem 1rem; border-radius: 8px; z-index: 9; }
.skip:focus { top: .5rem; }
[hidden] { display: none !important; }
.region:empty { display: none; }

.top { position: sticky; top: 0; z-index: 5; display: flex; align-items: center; gap: 1rem; padding: .6rem 1.5rem; background: var(--card); border-bottom: 1px solid var(--line); }
.top nav { flex: 1; min-width: 0; }
.top ol { display: flex; gap: .1rem; flex-wrap: wrap; min-width: 0; font-size: .9rem; }
.top li { min-width: 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.top li + li::before { content: "/"; color: var(--dim); margin: 0 .5rem; }
.top a { text-decoration: none; } .top a:hover { text-decoration: underline; }
.brand { font-weight: 700; letter-spacing: -.02em; }
.link { margin: 0; font-size: .8rem; color: var(--dim); white-space: nowrap; }
.link.good { color: var(--good); } .link.bad { color: var(--bad); }
.link::before { content: ""; display: inline-block; width: .5rem; height: .5rem; border-radius: 50%; background: currentColor; margin-right: .4rem; }

.card { background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .9rem 1.1rem; box-shadow: var(--shadow); }
.pill { display: inline-block; vertical-align: .12em; font-size: .8rem; font-weight: 600; line-height: 1; padding: .38rem .65rem; border-radius: 99px; letter-spacing: 0; background: var(--soft); }
.pill.good { background: var(--good-soft); } .pill.warn { background: var(--warn-soft); } .pill.bad { background: var(--bad-soft); } .pill.plain { background: var(--plain-soft); }
.pill.moving::before { content: ""; display: inline-block; width: .5rem; height: .5rem; border-radius: 50%; background: currentColor; margin-right: .4rem; }
@media (prefers-reduced-motion: no-preference) {
  .pill.moving::before { animation: beat 1.6s ease-in-out infinite; }
  @keyframes beat { 50% { opacity: .25; } }
}
button, .button { font: inherit; font-size: .9rem; font-weight: 500; line-height: 1.2; min-height: 2.25rem; padding: .5rem .9rem; border-radius: 8px; border: 1px solid var(--line); background: var(--card); color: var(--text); cursor: pointer; text-decoration: none; display: inline-flex; align-items: center; }
button:hover, .button:hover { background: var(--soft); }
button.main { background: var(--plain); border-color: var(--plain); color: var(--card); }
button.main:hover { filter: brightness(1.08); }
button.bad { color: var(--bad); border-color: currentColor; }
button:disabled { opacity: .55; cursor: default; }
input, textarea { font: inherit; color: inherit; background: var(--ground); border: 1px solid var(--line); border-radius: 8px; padding: .5rem .7rem; width: 100%; }
textarea { resize: vertical; min-height: 4.5rem; }
::placeholder { color: var(--dim); opacity: 1; }

.hero { display: flex; gap: 1rem; justify-content: space-between; align-items: flex-start; flex-wrap: wrap; }
.hero .title { min-width: 0; flex: 1 1 20rem; }
.controls { display: flex; gap: .5rem; flex-wrap: wrap; align-items: flex-start; }
.menu { position: relative; }
.menu > summary { list-style: none; } .menu > summary::-webkit-details-marker { display: none; }
.menu .card { position: absolute; right: 0; top: calc(100% + .4rem); width: 15rem; z-index: 4; display: grid; gap: .5rem; box-shadow: 0 8px 24px rgb(0 0 0 / .18); }
.menu button { width: 100%; justify-content: center; }

.ask { border-color: var(--warn); border-left-width: 4px; }
.ask .asked { font-size: 1.1rem; font-weight: 600; margin: .4rem 0 .75rem; }
.choices { display: flex; gap: .5rem; flex-wrap: wrap; }
.wide { display: flex; gap: .5rem; } .wide input { flex: 1; min-width: 0; }
.trust { border-color: var(--bad); border-left-width: 4px; }
.trust h2 { color: var(--bad); }
.trust li { margin: .3rem 0; overflow-wrap: anywhere; }
.row { display: flex; gap: .4rem; } .row > span:last-child { min-width: 0; }
.notice { border-left: 4px solid var(--plain); }

.tiles { display: grid; grid-template-columns: repeat(4, minmax(0, 1fr)); gap: 1rem; }
.tile { position: relative; overflow: hidden; background: var(--card); border: 1px solid var(--line); border-radius: 10px; padding: .9rem 1.1rem 3.6rem; box-shadow: var(--shadow); min-height: 9.5rem; }
.tile h2 { color: var(--dim); font-weight: 500; font-size: .85rem; margin: 0; }
.value { font-size: 1.75rem; font-weight: 650; line-height: 1.25; font-variant-numeric: tabular-nums; letter-spacing: -.02em; margin: .1rem 0 0; white-space: nowrap; }
.value small { font-size: .95rem; letter-spacing: 0; }
.tile p.dim { font-size: .82rem; margin: 0; }
.tile:not(:has(svg)) { padding-bottom: .9rem; min-height: 0; }
.chart { position: absolute; left: 0; right: 0; bottom: 0; width: 100%; height: 2.9rem; display: block; }
.chart .line { fill: none; stroke: currentColor; stroke-width: 2; vector-effect: non-scaling-stroke; stroke-linejoin: round; }
.chart .area { fill: currentColor; opacity: .12; } .chart rect { opacity: .45; }
.timeline { display: block; width: 100%; border-radius: 4px; background: var(--soft); }
.share { display: block; width: 100%; height: .45rem; margin-top: .5rem; }
svg rect { fill: currentColor; } svg rect.rest { fill: var(--line); }
.timeline rect.plain { opacity: .75; }
.axis { display: flex; justify-content: space-between; font-size: .8rem; font-variant-numeric: tabular-nums; }

.split { display: grid; grid-template-columns: minmax(0, 1fr) 22rem; gap: 1rem; align-items: start; }
.split > div, .split > aside { display: flex; flex-direction: column; gap: 1rem; min-width: 0; }
.now .lane + .lane { border-top: 1px solid var(--line); margin-top: .75rem; padding-top: .75rem; }
.now .what { font-size: 1.1rem; }
.now .tool code { display: block; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; padding: .35rem .6rem; }
.now blockquote { margin: .5rem 0 0; padding: .1rem 0 .1rem .8rem; border-left: 3px solid var(--line); color: var(--dim); overflow-wrap: anywhere; max-height: 4.6em; overflow: hidden; }
[data-since] { font-variant-numeric: tabular-nums; }

.board { display: grid; grid-template-columns: repeat(auto-fit, minmax(13rem, 1fr)); gap: .75rem; align-items: start; }
.column:has(.none) { display: none; }
.column { background: var(--soft); border-radius: 10px; padding: .75rem; min-height: 5rem; }
.column h3 { display: flex; justify-content: space-between; gap: .5rem; margin: 0 .15rem .6rem; }
.count { color: var(--dim); font-weight: 500; font-variant-numeric: tabular-nums; }
.column ul { display: grid; gap: .5rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 11rem), 1fr)); }
.item { background: var(--card); border: 1px solid var(--line); border-left: 3px solid currentColor; border-radius: 8px; padding: .55rem .7rem; font-size: .9rem; box-shadow: var(--shadow); position: relative; }
.item a { color: var(--text); text-decoration: none; display: block; overflow-wrap: anywhere; }
.item a::after { content: ""; position: absolute; inset: 0; border-radius: 8px; }
.item:hover { border-color: currentColor; }
.item a:focus-visible { outline: none; } .item a:focus-visible::after { outline: 2px solid var(--plain); outline-offset: 2px; }
.item .id { font-weight: 600; display: block; font-size: .82rem; } .item .name { display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden; }
.facts { display: block; font-size: .8rem; margin-top: .2rem; }
.badge { display: inline-block; font-size: .75rem; font-weight: 600; padding: .1rem .45rem; border-radius: 6px; margin: .35rem .3rem 0 0; background: var(--warn-soft); }
.badge.bad { background: var(--bad-soft); }
.more { font-size: .85rem; padding: .2rem .15rem; }
.tell { display: grid; gap: .6rem; } .tell h2 { margin: 0; } .tell button { justify-self: start; }
.feed li { display: flex; gap: .6rem; font-size: .85rem; padding: .3rem 0; border-top: 1px solid var(--soft); overflow-wrap: anywhere; }
.feed li:first-child { border-top: 0; }
.feed li span { min-width: 0; display: -webkit-box; -webkit-line-clamp: 3; -webkit-box-orient: vertical; overflow: hidden; }
.feed time { font-variant-numeric: tabular-nums; flex: none; }

.project { margin-top: .5rem; } .project h2 { font-size: 1.05rem; overflow-wrap: anywhere; }
.runs { display: grid; gap: .75rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 22rem), 1fr)); }
.run a { text-decoration: none; display: block; } .run a:hover strong { text-decoration: underline; }

pre.card { background: var(--card); } .transcript { max-height: 75vh; white-space: pre-wrap; overflow-wrap: anywhere; }
.reason { white-space: pre-wrap; overflow-wrap: anywhere; max-height: 14rem; color: var(--text); border-left: 3px solid var(--bad); }
.criteria li { padding: .25rem 0 .25rem 1.4rem; position: relative; overflow-wrap: anywhere; }
.criteria li::before { content: "○"; position: absolute; left: 0; color: var(--dim); }
.criteria.met li::before { content: "✓"; color: var(--good); }
.attempt { margin-bottom: 1rem; border-left: 4px solid currentColor; } .attempt > * { color: var(--text); } .attempt > .dim { color: var(--dim); } .attempt.plain { border-left-color: var(--plain); }
.attempt h2 { font-size: 1.05rem; } #item { display: grid; gap: .75rem; } #item > * { margin: 0; } .attempt h3 { margin: .9rem 0 .3rem; color: var(--dim); }
.checks li { margin: .3rem 0; } .checks li > .mark { margin-left: 1.1rem; }
.diff ins, .diff del, .diff b { text-decoration: none; display: inline; font-weight: 400; }
.diff ins { color: var(--good); } .diff del { color: var(--bad); } .diff b { color: var(--plain); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; } th, td { text-align: left; padding: .4rem .75rem .4rem 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.scroll { overflow-x: auto; }

@media (max-width: 60rem) { .split { grid-template-columns: minmax(0, 1fr); } .tiles { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
@media (max-width: 34rem) {
  main { padding: .9rem .75rem 3rem; gap: .75rem; } .top { padding: .6rem .75rem; gap: .5rem; }
  .tiles { gap: .6rem; } .tile { padding: .7rem .8rem 3.2rem; min-height: 8.5rem; } .value { font-size: 1.4rem; }
  .board { grid-template-columns: minmax(0, 1fr); } h1 { font-size: 1.25rem; }
  .menu .card { right: auto; left: 0; } .column { min-height: 0; } .wide { flex-direction: column; }
}
@media print { .top, .controls, .tell { display: none; } }
`;
