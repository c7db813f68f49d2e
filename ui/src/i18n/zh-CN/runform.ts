import type runform from "../en/runform";
import type { Translation } from "../types";

const zh: Translation<typeof runform> = {};

export default zh;
