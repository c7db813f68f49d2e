import type { Area } from "../types";

const run = {} satisfies Area;

export default run;
