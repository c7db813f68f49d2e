import type { Area } from "../types";

const compare = {} satisfies Area;

export default compare;
