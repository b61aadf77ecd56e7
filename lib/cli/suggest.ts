export { editDistance, nearest } from "../errors/nearest.ts";
