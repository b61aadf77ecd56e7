/**
 * The server of the page: addresses, what is drawn for each, and what a person asks of a run.
 *
 * @module
 */
import { type Context, Hono } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import { streamSSE } from "hono/streaming";
import { type Redactor, redactorFor } from "../events/redact.ts";
import { PAGE_SCRIPT, PAGE_STYLE } from "../generated/page.ts";
import type { Host } from "../host/types.ts";
import { htmlReport } from "../report/html.ts";
import { isGivenUp, makeReport, type Resume } from "../report/make_report.ts";
import { fragment, type Markup, NOTHING } from "../report/markup.ts";
import type { RunPart, RunReport } from "../report/types.ts";
import * as control from "../steer/control.ts";
import { guard } from "./guard.ts";
import { findItem, itemRegions, type ListedProject, overview } from "./pages.ts";
import { action, page, type PageOptions, region, type Regions } from "./layout.ts";
import type { OpenItem } from "./model.ts";
import { BOARD_IDS, itemHref, runRegions } from "./run_page.ts";
import { type Project, readCommit, readTranscript, type Runs, together, type WatchedRun } from "./runs.ts";

/** The parts of the server. */
export interface AppOptions {
  readonly host: Host;
  readonly runs: Runs;
  /** In every address; who does not have it gets nothing. */
  readonly token: string;
  readonly port: () => number;
  readonly resume: Resume;
  /** The body of the request for a run's branch, as Markdown. */
  readonly review: (report: RunReport) => Promise<string>;
  /** Items of a run's part that are open in the store of a root now. */
  readonly openItems: (root: string, part: RunPart) => Promise<readonly OpenItem[]>;
  /** Ends what is streamed. */
  readonly signal: AbortSignal;
}

/** Runs of a project that are listed. */
const LISTED = 40;
const MOST_COMMITS = 40;
const STEER_ACTIONS = ["pause", "resume", "stop", "stop-now", "tell", "answer"] as const;
const NOTICE = fragment`<p id="notice" class="card notice" hidden></p>`;

/** The page's server, to be served by any runtime. */
export function createApp(options: AppOptions): Hono {
  const app = new Hono();
  app.use(guard(options.token, options.port));
  const base = `/${options.token}`;
  const site = new Site(options, base);
  for (
    const [name, type, text] of [["style.css", "css", PAGE_STYLE], ["page.js", "javascript", PAGE_SCRIPT]] as const
  ) {
    const headers = { "content-type": `text/${type}; charset=utf-8` };
    app.get(`${base}/${name}`, (context) => context.body(text, 200, headers));
  }
  app.get(base, (context) => context.redirect(`${base}/`));
  app.get(`${base}/`, (context) => site.overview(context));
  app.get(`${base}/events`, (context) => site.overviewEvents(context));
  app.get(`${base}/:project/:run`, (context) => site.run(context));
  app.get(`${base}/:project/:run/events`, (context) => site.runEvents(context));
  app.get(`${base}/:project/:run/report`, (context) => site.report(context));
  app.get(`${base}/:project/:run/review`, (context) => site.review(context));
  app.get(`${base}/:project/:run/items`, (context) => site.items(context));
  app.get(`${base}/:project/:run/item/:part/:item`, (context) => site.item(context));
  app.get(`${base}/:project/:run/item/:part/:item/events`, (context) => site.itemEvents(context));
  app.get(`${base}/:project/:run/transcript/:part/:item/:attempt/:turn`, (context) => site.transcript(context));
  app.post(`${base}/:project/:run/steer`, bodyLimit({ maxSize: 64 * 1024 }), (context) => site.steer(context));
  app.notFound((context) => context.html(site.missing(), 404));
  app.onError((error, context) =>
    error instanceof HTTPException
      ? error.getResponse()
      : context.text(`the page could not be made: ${error.message}`, 500)
  );
  return app;
}

class Site {
  readonly #options: AppOptions;
  readonly #base: string;
  readonly #redactor: Redactor;

  constructor(options: AppOptions, base: string) {
    this.#options = options;
    this.#base = base;
    this.#redactor = redactorFor(options.host.environment.variables);
  }

  missing(): string {
    const main = fragment`<h1>There is no such page</h1><p><a href="${this.#base}/">All runs</a></p>`;
    return page({ base: this.#base, title: "No such page", main });
  }

  async overview(context: Context): Promise<Response> {
    const { title, regions } = await this.#drawOverview();
    return this.#page(context, { title, events: `${this.#base}/events`, main: region("runs", regions) });
  }

  async overviewEvents(context: Context): Promise<Response> {
    const { runs } = this.#options;
    const projects = await runs.projects();
    const changed = async (act: () => void): Promise<Disposable> => {
      const opened: Disposable[] = [await runs.changed(act)];
      for (const project of projects) {
        for (const { run } of await runs.live(project)) {
          const watched = await runs.open(project, run);
          if (watched !== null) opened.push(watched.changed(act), watched);
        }
      }
      return together(opened);
    };
    return streamPage(context, this.#options, changed, () => this.#drawOverview());
  }

  run(context: Context): Promise<Response> {
    return this.#ofRun(context, async (watched, href) => {
      const { regions, title } = await this.#drawRun(watched);
      const isLive = await watched.live() !== null;
      const board = BOARD_IDS.map((id) => region(id, regions, "column"));
      const main = fragment`${NOTICE}
${region("hero", regions, "hero")}${region("needs", regions)}${region("trust", regions)}${
        region("tiles", regions, "tiles")
      }
<div class="split"><div>${region("now", regions)}${region("line", regions)}
<section class="board" aria-label="Items by state">${board}</section></div>
<aside>${isLive ? tellForm(href) : NOTHING}<section class="card feed">${
        region("feed", regions)
      }</section></aside></div>`;
      const crumbs = [{ name: watched.project.name }, { name: watched.found.id }];
      return this.#page(context, { title, events: isLive ? `${href}/events` : null, crumbs, main });
    });
  }

  runEvents(context: Context): Promise<Response> {
    return this.#stream(context, (watched) => this.#drawRun(watched));
  }

  item(context: Context): Promise<Response> {
    return this.#ofRun(context, async (watched, href) => {
      const drawn = await this.#drawItem(context, watched);
      if (drawn === null) return null;
      const { title, regions } = drawn;
      const { part = "", item = "" } = context.req.param();
      const isLive = await watched.live() !== null;
      const takesWords = isLive || title.endsWith(": parked");
      const main = fragment`${NOTICE}${region("item", regions)}${takesWords ? tellForm(href, item) : NOTHING}${
        region("attempts", regions)
      }`;
      const events = isLive ? `${itemHref(href, { part: Number(part), id: item })}/events` : null;
      const crumbs = [{ name: watched.project.name }, { name: watched.found.id, href }, { name: item }];
      return this.#page(context, { title, events, crumbs, main });
    });
  }

  itemEvents(context: Context): Promise<Response> {
    const nothing = { regions: {}, announcement: "", title: "" };
    return this.#stream(context, async (watched) => await this.#drawItem(context, watched) ?? nothing);
  }

  items(context: Context): Promise<Response> {
    return this.#ofRun(context, (watched, href) => {
      const rows = watched.model.report().items.map((item) =>
        fragment`<tr><td><a href="${
          itemHref(href, item)
        }">${item.id}</a></td><td class="name">${item.title}</td><td>${item.state}</td><td>${item.attempts.length}</td></tr>`
      );
      const main =
        fragment`<h1>All items</h1><div class="card scroll" tabindex="0"><table><thead><tr><th scope="col">Item</th><th scope="col">Title</th><th scope="col">State</th><th scope="col">Attempts</th></tr></thead><tbody>${rows}</tbody></table></div>`;
      const crumbs = [{ name: watched.project.name }, { name: watched.found.id, href }, { name: "items" }];
      return this.#page(context, { title: "All items", crumbs, main });
    });
  }

  /** The report, as `ralph report --format html` writes it: a page of its own, which runs nothing. */
  report(context: Context): Promise<Response> {
    return this.#ofRun(context, async ({ project, found }) => {
      const report = await makeReport(project.root, found, this.#options);
      const policy =
        "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
      return context.html(htmlReport(report), 200, { "Content-Security-Policy": policy });
    });
  }

  /** `ralph finish` would ask with this text, as `ralph report --for review` prints it. */
  review(context: Context): Promise<Response> {
    return this.#ofRun(context, async ({ project, found }, href) => {
      const report = await makeReport(project.root, found, this.#options);
      if (report.work === null) return null;
      const main = fragment`<h1>The request</h1><p class="dim">Markdown, as <code>ralph finish</code> sends it</p>
<pre class="card transcript" tabindex="0">${await this.#options.review(report)}</pre>`;
      const crumbs = [{ name: project.name }, { name: found.id, href }, { name: "request" }];
      return this.#page(context, { title: "The request", crumbs, main });
    });
  }

  transcript(context: Context): Promise<Response> {
    return this.#ofRun(context, async ({ model, project, found }, href) => {
      const { part, item = "", attempt, turn } = context.req.param();
      const shown = findItem(model.report(), Number(part), item);
      const path = shown?.attempts[Number(attempt)]?.turns[Number(turn)]?.transcript;
      const read = path === undefined ? null : await readTranscript(project.root, found.folder, path);
      if (read === null) return null;
      const crumbs = [
        { name: found.id, href },
        { name: item, href: itemHref(href, { part: Number(part), id: item }) },
        { name: "transcript" },
      ];
      const main = fragment`<h1>What the agent printed</h1><p class="dim">${path ?? ""}${
        read.isWhole ? "" : `, the last ${read.text.length.toLocaleString("en-US")} characters`
      }</p><pre class="card transcript" tabindex="0">${read.text}</pre>`;
      return this.#page(context, { title: "Transcript", crumbs, main });
    });
  }

  steer(context: Context): Promise<Response> {
    return this.#ofRun(context, async (watched, href) => {
      const reply = await this.#ask(watched, await context.req.parseBody());
      if ((context.req.header("accept") ?? "").includes("application/json")) return context.json(reply);
      return context.redirect(href, 303);
    });
  }

  #page(context: Context, shown: Omit<PageOptions, "base">): Response {
    return context.html(page({ base: this.#base, ...shown })) as Response;
  }

  /** Answers about the run of an address; `null`: there is no such page of it. */
  async #ofRun(
    context: Context,
    answer: (watched: WatchedRun, href: string) => Promise<Response | null> | Response,
  ): Promise<Response> {
    using watched = await this.#open(context);
    const response = watched === null ? null : await answer(watched, this.#hrefOf(watched));
    return response ?? context.html(this.missing(), 404);
  }

  async #stream(context: Context, draw: (watched: WatchedRun) => Promise<Drawn>): Promise<Response> {
    const watched = await this.#open(context);
    if (watched === null) return context.html(this.missing(), 404);
    const changed = (act: () => void) => Promise.resolve(together([watched.changed(act), watched]));
    return streamPage(context, this.#options, changed, () => draw(watched));
  }

  async #ask(watched: WatchedRun, body: Readonly<Record<string, unknown>>): Promise<control.SteerReply> {
    const live = await watched.live();
    const action = STEER_ACTIONS.find((one) => one === body["action"]);
    if (action === undefined) return { status: "refused", message: "There is no such request" };
    const given = ["text", "item", "key"].map((name) => [name, body[name]] as const)
      .filter(([, value]) => typeof value === "string" && value !== "");
    const request: control.SteerRequest = { action, origin: "page", ...Object.fromEntries(given) };
    const [folder, { host }] = [control.controlFolder(watched.project.own), this.#options];
    if (live === null) {
      const { found } = watched;
      const place = { control: folder, folder: found.folder, host };
      return await control.tellNext({ ...place, isGivenUp: (item) => isGivenUp(found, item) }, request);
    }
    return await control.sendRequest({ folder, run: live.run, host }, request) ??
      { status: "refused", message: "The run did not answer" };
  }

  async #open(context: Context): Promise<WatchedRun | null> {
    const { project: index, run = "" } = context.req.param();
    const project = (await this.#options.runs.projects())[Number(index)];
    return project === undefined ? null : await this.#options.runs.open(project, run);
  }

  #hrefOf({ project, found }: { readonly project: Project; readonly found: { readonly id: string } }): string {
    return `${this.#base}/${project.index}/${found.id}`;
  }

  async #drawRun(watched: WatchedRun): Promise<Drawn> {
    const live = await watched.live();
    const { model } = watched;
    const now = this.#options.host.clock.now();
    const told = [...(await control.toldNext(control.controlFolder(watched.project.own))).values()];
    if (live !== null || watched.found.newest) await this.#readToCome(watched);
    const regions = runRegions({ href: this.#hrefOf(watched), model, live, now, told });
    const { passed, total } = model.tally;
    const done = total === null ? `${passed}` : `${passed}/${total}`;
    const state = live === null ? "ended" : live.asks !== null ? "needs you" : live.pause?.state ?? "running";
    return { regions, announcement: model.announcement, title: `${done} ${state} · ${watched.project.name}` };
  }

  /** Anew when an item has begun or passed. */
  async #readToCome({ project: { root }, model }: WatchedRun): Promise<void> {
    const { parts, items } = model.report();
    const state = `${items.length} ${model.tally.passed}`;
    const part = parts.at(-1);
    if (part === undefined || model.toCome.state === state) return;
    model.toCome = { state, items: await this.#options.openItems(root, part) };
  }

  async #drawItem(context: Context, watched: WatchedRun): Promise<Drawn | null> {
    const { part, item: id = "" } = context.req.param();
    const item = findItem(watched.model.report(), Number(part), id);
    if (item === null) return null;
    const commits = item.attempts.flatMap((attempt) => attempt.commits).slice(-MOST_COMMITS);
    const diffs = new Map<string, string>();
    for (const { commit } of commits) {
      const diff = await readCommit(this.#options.host, watched.project.root, commit);
      if (diff !== null) diffs.set(commit, this.#redactor.text(diff));
    }
    const isLive = await watched.live() !== null;
    const regions = itemRegions({ href: this.#hrefOf(watched), model: watched.model, item, isLive, diffs });
    return { regions, announcement: watched.model.announcement, title: `${item.id}: ${item.state}` };
  }

  async #drawOverview(): Promise<Drawn> {
    const { runs, host } = this.#options;
    const listed: ListedProject[] = [];
    for (const project of await runs.projects()) {
      const [all, live] = [await runs.list(project), await runs.live(project)];
      const shown = [];
      for (const found of all.slice(0, LISTED)) {
        using watched = await runs.open(project, found.id);
        if (watched === null) continue;
        const own = live.find(({ run }) => run === found.id) ?? null;
        shown.push({ href: this.#hrefOf({ project, found }), id: found.id, model: watched.model, live: own });
      }
      listed.push({ project, runs: shown, more: Math.max(0, all.length - LISTED) });
    }
    const atWork = listed.flatMap((project) => project.runs).filter(({ live }) => live !== null).length;
    const title = atWork === 0 ? "ralph" : `${atWork} at work · ralph`;
    return { regions: { runs: overview(listed, host.clock.now()) }, announcement: "", title };
  }
}

/** A person's words go into the next prompt. */
function tellForm(href: string, item?: string): Markup {
  const fields = { action: "tell", ...(item === undefined ? {} : { item }) };
  const inside = fragment`<h2><label for="tell">Tell the agent${
    item === undefined ? "" : ` about ${item}`
  }</label></h2><textarea id="tell" name="text" rows="3" required placeholder="It goes into the next prompt${
    item === undefined ? "" : " for this item"
  }"></textarea><button>Tell</button>`;
  return action(`${href}/steer`, fields, inside, "card tell");
}

/** A page as it is at one moment. */
interface Drawn {
  readonly regions: Regions;
  /** For who cannot look. */
  readonly announcement: string;
  readonly title: string;
}

/** How often a page is drawn anew at most, and how often a stream says that it is there. */
const LEAST_MS = 250;
const BEAT_MS = 30_000;

/** Sends what has changed of a page, four times a second at most, and nothing while nothing changes. */
function streamPage(
  context: Context,
  { host, signal }: { readonly host: Host; readonly signal: AbortSignal },
  changed: (act: () => void) => Promise<Disposable>,
  draw: () => Promise<Drawn>,
): Response {
  return streamSSE(context, async (stream) => {
    const gone = new AbortController();
    stream.onAbort(() => gone.abort());
    const over = AbortSignal.any([gone.signal, signal]);
    let wake = new AbortController();
    using _watching = await changed(() => wake.abort());
    const sent = new Map<string, string>();
    while (!over.aborted) {
      wake = new AbortController();
      const { regions, announcement, title } = await draw();
      const fresh: Record<string, string> = {};
      for (const [id, { markup }] of Object.entries(regions) as [string, Markup][]) {
        if (sent.get(id) === markup) continue;
        sent.set(id, markup);
        fresh[id] = markup;
      }
      if (Object.keys(fresh).length > 0) {
        await stream.writeSSE({ event: "patch", data: JSON.stringify({ regions: fresh, announcement, title }) });
      }
      await host.clock.sleep(LEAST_MS, over);
      while (!over.aborted && !wake.signal.aborted) {
        await host.clock.sleep(BEAT_MS, AbortSignal.any([over, wake.signal]));
        if (!wake.signal.aborted) await stream.write(": still here\n\n");
      }
    }
  });
}
