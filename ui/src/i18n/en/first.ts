import type { Area } from "../types";

const first = {} satisfies Area;

export default first;
