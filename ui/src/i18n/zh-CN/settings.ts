import type settings from "../en/settings";
import type { Translation } from "../types";

const zh: Translation<typeof settings> = {};

export default zh;
