import type { Area } from "../types";

const dock = {} satisfies Area;

export default dock;
