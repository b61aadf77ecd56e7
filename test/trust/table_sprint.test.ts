import { describeTable } from "./table.ts";

describeTable("sprint");
