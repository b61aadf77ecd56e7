#!/usr/bin/env node
import process from "node:process";
import { main } from "../lib/cli/main.ts";
import { createHost } from "../lib/host/create_host.ts";

process.exitCode = await main(process.argv.slice(2), createHost());
