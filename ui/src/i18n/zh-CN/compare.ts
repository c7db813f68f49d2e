import type compare from "../en/compare";
import type { Translation } from "../types";

const zh: Translation<typeof compare> = {};

export default zh;
