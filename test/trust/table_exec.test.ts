import { describeTable } from "./table.ts";

describeTable("exec");
