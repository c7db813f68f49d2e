import type dock from "../en/dock";
import type { Translation } from "../types";

const zh: Translation<typeof dock> = {};

export default zh;
