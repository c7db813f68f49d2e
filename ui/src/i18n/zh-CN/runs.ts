import type runs from "../en/runs";
import type { Translation } from "../types";

const zh: Translation<typeof runs> = {};

export default zh;
