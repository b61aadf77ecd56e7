import { isPlain, type Plain, plains } from "../../plain.ts";
import type { ExternalItem, PlanReader } from "./external_plan.ts";
import { isDoneWord, onOneLine, otherKeys, textOf, textsOf } from "./fields.ts";

const ITEM_KEYS = ["id", "title", "description", "steps", "passes", "status", "category"];

/**
 * A `prd.json` of openralph: a list of items, or an object with `metadata` and `items`; each has `description` (or
 * `title`), `steps`, `passes` or `status` (`done`), and maybe `id`, `category`, `effort`, `risk`
 * (github.com/shuv1337/openralph, src/plan.ts).
 */
export const ITEM_LIST: PlanReader = {
  tool: "openralph",
  matches: ({ data }) => {
    const items = plains(itemsOf(data));
    return items.length > 0 && items.every((item) => textOf(item, "description", "title") !== "") &&
      items.some((item) => ["steps", "passes", "category"].some((key) => Object.hasOwn(item, key)));
  },
  read({ data }) {
    const items = plains(itemsOf(data));
    const metadata = isPlain(data) && isPlain(data["metadata"]) ? data["metadata"] : {};
    const other = [...new Set(items.flatMap((item) => otherKeys(item, ITEM_KEYS)))];
    return {
      tool: "openralph",
      title: textOf(metadata, "title"),
      branch: null,
      items: items.map(itemOf),
      left: [
        ...isPlain(data) ? otherKeys(data, ["items"]) : [],
        ...other.map((key) => `${key} of the items`),
      ],
    };
  },
};

function itemsOf(data: unknown): unknown {
  return isPlain(data) ? data["items"] : data;
}

function itemOf(item: Plain): ExternalItem {
  const title = onOneLine(textOf(item, "title", "description"));
  const description = textOf(item, "description");
  const category = textOf(item, "category");
  return {
    id: textOf(item, "id"),
    title,
    criteria: textsOf(item["steps"]),
    notes: [...description === title ? [] : [description], ...category === "" ? [] : [`Category: ${category}`]],
    done: item["passes"] === true || isDoneWord(textOf(item, "status")),
    priority: null,
    dependsOn: [],
  };
}
