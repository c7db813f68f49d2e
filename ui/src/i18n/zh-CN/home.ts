import type home from "../en/home";
import type { Translation } from "../types";

const zh: Translation<typeof home> = {};

export default zh;
