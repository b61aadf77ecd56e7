import { fragment, type Markup, NOTHING } from "../report/markup.ts";

/** A part of a page that is sent anew when it has changed, by its id. */
export type Regions = Readonly<Record<string, Markup>>;

/** The parts of a page. */
export interface PageOptions {
  /** Before every address: `/` and the token. */
  readonly base: string;
  readonly title: string;
  /** Changes come from here. @default nothing changes */
  readonly events?: string | null;
  readonly crumbs?: readonly { readonly name: string; readonly href?: string }[];
  readonly main: Markup;
}

/** A whole page. Its script only keeps it up to date: everything works without. Pure. */
export function page({ base, title, events = null, crumbs = [], main }: PageOptions): string {
  const live = events === null ? NOTHING : fragment` data-events="${events}"`;
  const path = crumbs.map(({ name, href }) =>
    href === undefined
      ? fragment`<li><span aria-current="page">${name}</span></li>`
      : fragment`<li><a href="${href}">${name}</a></li>`
  );
  return fragment`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}/style.css">
<script src="${base}/page.js" defer></script>
</head>
<body${live}>
<a class="skip" href="#main">Skip to the content</a>
<header class="top">
<nav aria-label="Where you are"><ol><li><a class="brand" href="${base}/">ralph</a></li>${path}</ol></nav>
<p id="link" class="link"${events === null ? { markup: " hidden" } : NOTHING}>connecting</p>
</header>
<main id="main" tabindex="-1">
${main}
</main>
<p id="announce" class="unseen" role="status"></p>
</body>
</html>
`.markup;
}

/** A region with its place on the page. */
export function region(id: string, regions: Regions, name = ""): Markup {
  return fragment`<div id="${id}" class="region ${name}">${regions[id] ?? NOTHING}</div>`;
}

/** A form that posts to an address; it needs no script. */
export function action(href: string, fields: Readonly<Record<string, string>>, inside: Markup, name = ""): Markup {
  const hidden = Object.entries(fields).map(([key, value]) =>
    fragment`<input type="hidden" name="${key}" value="${value}">`
  );
  return fragment`<form method="post" action="${href}" class="action ${name}">${hidden}${inside}</form>`;
}
