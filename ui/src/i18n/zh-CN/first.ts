import type first from "../en/first";
import type { Translation } from "../types";

const zh: Translation<typeof first> = {};

export default zh;
