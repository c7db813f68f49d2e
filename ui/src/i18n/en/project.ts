import type { Area } from "../types";

const project = {} satisfies Area;

export default project;
