/**
 * The server of the page: addresses, what is drawn for each, and what a person asks of a run.
 *
 * @module
 */
import { Hono } from "hono";
import type { Context } from "hono";
import { bodyLimit } from "hono/body-limit";
import { HTTPException } from "hono/http-exception";
import { createRedactor } from "../events/redact.ts";
import { secretValues } from "../events/secrets.ts";
import type { Host } from "../host/types.ts";
import { fragment, type Markup } from "../report/markup.ts";
import { makeReport, type Resume } from "../report/make_report.ts";
import type { RunReport } from "../report/types.ts";
import { controlFolder, sendRequest } from "../steer/control.ts";
import type { SteerReply, SteerRequest } from "../steer/types.ts";
import { SCRIPT } from "./assets.ts";
import { readCommit, readTranscript } from "./disk.ts";
import { guard } from "./guard.ts";
import { findItem, itemRegions } from "./item_page.ts";
import { page, region } from "./layout.ts";
import { type ListedProject, overview } from "./overview_page.ts";
import { BOARD_IDS, itemHref } from "./board.ts";
import { runRegions } from "./run_page.ts";
import type { Project, Runs, WatchedRun } from "./runs.ts";
import { type Drawn, streamPage } from "./stream.ts";
import { PAGE_STYLE } from "./style.ts";

/** The parts of the server. */
export interface AppOptions {
  readonly host: Host;
  readonly runs: Runs;
  /** In every address; who does not have it gets nothing. */
  readonly token: string;
  readonly port: () => number;
  readonly resume: Resume;
  /** Ends what is streamed. */
  readonly signal: AbortSignal;
}

/** Runs of a project that are listed. */
const LISTED = 12;
const MOST_COMMITS = 40;

/** The page's server, to be served by any runtime. */
export function createApp(options: AppOptions): Hono {
  const app = new Hono();
  app.use(guard(options.token, options.port));
  const base = `/${options.token}`;
  const site = new Site(options, base);
  app.get(
    `${base}/style.css`,
    (context) => context.body(PAGE_STYLE, 200, { "content-type": "text/css; charset=utf-8" }),
  );
  app.get(
    `${base}/page.js`,
    (context) => context.body(SCRIPT, 200, { "content-type": "text/javascript; charset=utf-8" }),
  );
  app.get(base, (context) => context.redirect(`${base}/`));
  app.get(`${base}/`, (context) => site.overview(context));
  app.get(`${base}/events`, (context) => site.overviewEvents(context));
  app.get(`${base}/:project/:run`, (context) => site.run(context));
  app.get(`${base}/:project/:run/events`, (context) => site.runEvents(context));
  app.get(`${base}/:project/:run/report`, (context) => site.report(context));
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
  readonly #redactor: ReturnType<typeof createRedactor>;

  constructor(options: AppOptions, base: string) {
    this.#options = options;
    this.#base = base;
    this.#redactor = createRedactor(secretValues(options.host.environment.variables));
  }

  missing(): string {
    const main = fragment`<h1>There is no such page</h1><p><a href="${this.#base}/">All runs</a></p>`;
    return page({ base: this.#base, title: "No such page", events: null, crumbs: [], main });
  }

  async overview(context: Context): Promise<Response> {
    const drawn = await this.#drawOverview();
    return context.html(page({
      base: this.#base,
      title: drawn.title,
      events: `${this.#base}/events`,
      crumbs: [],
      main: region("runs", drawn.regions),
    }));
  }

  async overviewEvents(context: Context): Promise<Response> {
    const projects = await this.#options.runs.projects();
    const opened: Disposable[] = [];
    const changed = async (act: () => void): Promise<Disposable> => {
      opened.push(await this.#options.runs.changed(act));
      for (const project of projects) {
        for (const { run } of await this.#options.runs.live(project)) {
          const watched = await this.#options.runs.open(project, run);
          if (watched !== null) opened.push(watched.changed(act), watched);
        }
      }
      return { [Symbol.dispose]: () => opened.forEach((one) => one[Symbol.dispose]()) };
    };
    return streamPage(context, this.#options, changed, () => this.#drawOverview());
  }

  async run(context: Context): Promise<Response> {
    using watched = await this.#open(context);
    if (watched === null) return context.html(this.missing(), 404);
    const href = this.#hrefOf(watched);
    const live = await watched.live();
    const { regions, title } = await this.#drawRun(watched);
    const board = BOARD_IDS.map((id) => region(id, regions, "column"));
    const tell = live === null ? fragment`` : tellForm(href);
    const main = fragment`<p id="notice" class="card notice" hidden></p>
${region("hero", regions, "hero")}${region("needs", regions)}${region("trust", regions)}${
      region("tiles", regions, "tiles")
    }
<div class="split"><div>${region("now", regions)}${region("line", regions)}
<section class="board" aria-label="Items by state">${board}</section></div>
<aside>${tell}<section class="card feed">${region("feed", regions)}</section></aside></div>`;
    const crumbs = [{ name: watched.project.name, href: null }, { name: watched.found.id, href: null }];
    return context.html(
      page({ base: this.#base, title, events: live === null ? null : `${href}/events`, crumbs, main }),
    );
  }

  async runEvents(context: Context): Promise<Response> {
    const watched = await this.#open(context);
    if (watched === null) return context.html(this.missing(), 404);
    return streamPage(
      context,
      this.#options,
      (act) => Promise.resolve(both(watched.changed(act), watched)),
      () => this.#drawRun(watched),
    );
  }

  async item(context: Context): Promise<Response> {
    using watched = await this.#open(context);
    const drawn = watched === null ? null : await this.#drawItem(context, watched);
    if (watched === null || drawn === null) return context.html(this.missing(), 404);
    const href = this.#hrefOf(watched);
    const { part = "", item = "" } = context.req.param();
    const crumbs = [
      { name: watched.project.name, href: null },
      { name: watched.found.id, href },
      { name: item, href: null },
    ];
    const live = await watched.live();
    const tell = live === null ? fragment`` : tellForm(href, item);
    const main = fragment`<p id="notice" class="card notice" hidden></p>${region("item", drawn.regions)}${tell}${
      region("attempts", drawn.regions)
    }`;
    const events = live === null ? null : `${href}/item/${part}/${encodeURIComponent(item)}/events`;
    return context.html(page({ base: this.#base, title: drawn.title, events, crumbs, main }));
  }

  async itemEvents(context: Context): Promise<Response> {
    const watched = await this.#open(context);
    if (watched === null) return context.html(this.missing(), 404);
    const changed = (act: () => void): Promise<Disposable> => Promise.resolve(both(watched.changed(act), watched));
    const nothing = { regions: {}, announcement: "", title: "" };
    return streamPage(context, this.#options, changed, async () => await this.#drawItem(context, watched) ?? nothing);
  }

  async items(context: Context): Promise<Response> {
    using watched = await this.#open(context);
    if (watched === null) return context.html(this.missing(), 404);
    const href = this.#hrefOf(watched);
    const report = watched.model.report() as RunReport;
    const rows = report.items.map((item) =>
      fragment`<tr><td><a href="${
        itemHref(href, item)
      }">${item.id}</a></td><td>${item.title}</td><td>${item.state}</td><td>${item.attempts.length}</td></tr>`
    );
    const main =
      fragment`<h1>All items</h1><div class="card scroll" tabindex="0"><table><thead><tr><th scope="col">Item</th><th scope="col">Title</th><th scope="col">State</th><th scope="col">Attempts</th></tr></thead><tbody>${rows}</tbody></table></div>`;
    const crumbs = [{ name: watched.project.name, href: null }, { name: watched.found.id, href }, {
      name: "items",
      href: null,
    }];
    return context.html(page({ base: this.#base, title: "All items", events: null, crumbs, main }));
  }

  /** The report, as `ralph report --format html` writes it: a page of its own, which runs nothing. */
  async report(context: Context): Promise<Response> {
    using watched = await this.#open(context);
    if (watched === null) return context.html(this.missing(), 404);
    const { host, resume } = this.#options;
    const report = await makeReport(watched.project.root, watched.found, { host, resume });
    const { htmlReport } = await import("../report/html.ts");
    const policy =
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'";
    return context.html(htmlReport(report), 200, { "Content-Security-Policy": policy });
  }

  async transcript(context: Context): Promise<Response> {
    using watched = await this.#open(context);
    if (watched === null) return context.html(this.missing(), 404);
    const { part, item = "", attempt, turn } = context.req.param();
    const found = findItem(watched.model.report() as RunReport, Number(part), item);
    const path = found?.attempts[Number(attempt)]?.turns[Number(turn)]?.transcript;
    const text = path === undefined ? null : await readTranscript(watched.project.root, watched.found.folder, path);
    if (text === null) return context.html(this.missing(), 404);
    const href = this.#hrefOf(watched);
    const crumbs = [
      { name: watched.found.id, href },
      { name: item, href: itemHref(href, { part: Number(part), id: item }) },
      { name: "transcript", href: null },
    ];
    const main = fragment`<h1>What the agent printed</h1><p class="dim">${path ?? ""}${
      text.isWhole ? "" : `, the last ${text.text.length.toLocaleString("en-US")} characters`
    }</p><pre class="card transcript" tabindex="0">${text.text}</pre>`;
    return context.html(page({ base: this.#base, title: "Transcript", events: null, crumbs, main }));
  }

  async steer(context: Context): Promise<Response> {
    using watched = await this.#open(context);
    if (watched === null) return context.html(this.missing(), 404);
    const reply = await this.#ask(watched, await context.req.parseBody());
    if ((context.req.header("accept") ?? "").includes("application/json")) return context.json(reply);
    return context.redirect(this.#hrefOf(watched), 303);
  }

  async #ask(watched: WatchedRun, body: Readonly<Record<string, unknown>>): Promise<SteerReply> {
    const live = await watched.live();
    if (live === null) return { status: "refused", message: "The run is no longer at work" };
    const text = (name: string): string | undefined => {
      const value = body[name];
      return typeof value === "string" && value !== "" ? value : undefined;
    };
    const given = text("action") ?? "";
    const known = ["pause", "resume", "stop", "stop-now", "tell", "answer"] as const;
    const wanted = known.find((one) => one === given);
    if (wanted === undefined) return { status: "refused", message: "There is no such request" };
    const request: SteerRequest = {
      action: wanted,
      origin: "page",
      ...present({ text: text("text"), item: text("item"), key: text("key") }),
    };
    const place = { folder: controlFolder(watched.project.own), run: live.run, host: this.#options.host };
    return await sendRequest(place, request) ?? { status: "refused", message: "The run did not answer" };
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
    const regions = runRegions({ href: this.#hrefOf(watched), model, live, now });
    const { passed, total } = model.tally;
    const done = total === null ? `${passed}` : `${passed}/${total}`;
    const state = live === null ? "ended" : live.asks !== null ? "needs you" : live.pause?.state ?? "running";
    return { regions, announcement: model.announcement, title: `${done} ${state} · ${watched.project.name}` };
  }

  async #drawItem(context: Context, watched: WatchedRun): Promise<Drawn | null> {
    const { part, item: id = "" } = context.req.param();
    const item = findItem(watched.model.report() as RunReport, Number(part), id);
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
      const atWorkFirst = shown.toSorted((one, other) => Number(other.live !== null) - Number(one.live !== null));
      listed.push({ project, runs: atWorkFirst, more: Math.max(0, all.length - LISTED) });
    }
    const atWork = listed.flatMap((project) => project.runs).filter(({ live }) => live !== null).length;
    const title = atWork === 0 ? "ralph" : `${atWork} at work · ralph`;
    return { regions: { runs: overview(listed, host.clock.now()) }, announcement: "", title };
  }
}

function both(one: Disposable, other: Disposable): Disposable {
  return {
    [Symbol.dispose]() {
      one[Symbol.dispose]();
      other[Symbol.dispose]();
    },
  };
}

function present(fields: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(fields).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
}

/** A person's words go into the next prompt. */
function tellForm(href: string, item?: string): Markup {
  const field = item === undefined ? fragment`` : fragment`<input type="hidden" name="item" value="${item}">`;
  return fragment`<form method="post" action="${href}/steer" class="action card tell"><h2><label for="tell">Tell the agent${
    item === undefined ? "" : ` about ${item}`
  }</label></h2><input type="hidden" name="action" value="tell">${field}<textarea id="tell" name="text" rows="3" required placeholder="It goes into the next prompt${
    item === undefined ? "" : " for this item"
  }"></textarea><button>Tell</button></form>`;
}
