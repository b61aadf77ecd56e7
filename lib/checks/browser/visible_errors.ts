/** The parts of the page's own world that the function below uses; it runs there. */
interface PageElement {
  readonly textContent: string | null;
  readonly className: unknown;
  readonly tagName: string;
  getAttribute(name: string): string | null;
  getClientRects(): { readonly length: number };
  matches(selector: string): boolean;
}
interface PageWorld {
  readonly document: { querySelectorAll(selector: string): Iterable<PageElement> };
  getComputedStyle(element: PageElement): { readonly visibility: string; readonly opacity: string };
}

/**
 * Runs in the page: the texts of visible error banners and of the error overlays of dev servers. A bare `role=alert`
 * is a banner of errors only when its text says so.
 */
export function visibleErrors(): readonly string[] {
  const world = globalThis as unknown as PageWorld;
  const overlays =
    "vite-error-overlay, #webpack-dev-server-client-overlay, nextjs-portal [data-nextjs-dialog], #error-overlay";
  const marked =
    "[role=alert], [role=alertdialog], .error, .alert-danger, .alert-error, .error-banner, .error-message, .banner-error, [data-error-banner]";
  const isVisible = (element: PageElement): boolean => {
    const { visibility, opacity } = world.getComputedStyle(element);
    return element.getClientRects().length > 0 && visibility === "visible" && opacity !== "0";
  };
  const found: string[] = [];
  for (const element of world.document.querySelectorAll(`${overlays}, ${marked}`)) {
    if (!isVisible(element)) continue;
    const text = (element.textContent ?? "").trim().replace(/\s+/g, " ").slice(0, 200);
    if (element.matches(overlays)) found.push(text === "" ? `<${element.tagName.toLowerCase()}>` : text);
    else if (text !== "") {
      const isMarked = /(?:^|[\s_-])(?:error|danger)/i.test(String(element.className));
      const says = /\b(?:error|failed|failure|exception|went wrong|unable to|cannot|could not|denied)\b/i.test(text);
      const isGood = /\b(?:success|info|warning)\b/i.test(String(element.className));
      if (isMarked || element.matches("[data-error-banner]") || (says && !isGood)) found.push(text);
    }
  }
  return [...new Set(found)].slice(0, 5);
}
