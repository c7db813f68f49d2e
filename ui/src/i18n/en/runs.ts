import type { Area } from "../types";

const runs = {} satisfies Area;

export default runs;
