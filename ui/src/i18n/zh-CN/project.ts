import type project from "../en/project";
import type { Translation } from "../types";

const zh: Translation<typeof project> = {};

export default zh;
