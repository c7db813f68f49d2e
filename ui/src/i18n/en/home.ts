import type { Area } from "../types";

const home = {} satisfies Area;

export default home;
