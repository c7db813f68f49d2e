import type run from "../en/run";
import type { Translation } from "../types";

const zh: Translation<typeof run> = {};

export default zh;
