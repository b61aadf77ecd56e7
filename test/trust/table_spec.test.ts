import { describeTable } from "./table.ts";

describeTable("spec");
