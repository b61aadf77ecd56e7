import { describeTable } from "./table.ts";

describeTable("gsd");
