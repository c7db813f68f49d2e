import type { Area } from "../types";

const runform = {} satisfies Area;

export default runform;
