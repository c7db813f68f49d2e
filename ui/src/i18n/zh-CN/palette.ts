import type palette from "../en/palette";
import type { Translation } from "../types";

const zh: Translation<typeof palette> = {};

export default zh;
