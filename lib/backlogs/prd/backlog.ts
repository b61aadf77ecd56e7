import type { RalphContext } from "../../context.ts";
