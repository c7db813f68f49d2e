import type { Area } from "../types";

const palette = {} satisfies Area;

export default palette;
