import type { Area } from "../types";

const settings = {} satisfies Area;

export default settings;
