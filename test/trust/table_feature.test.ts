import { describeTable } from "./table.ts";

describeTable("feature");
