export * from "./DateField";
export * from "./FileField";
export * from "./NumberField";
export * from "./SelectField";
export * from "./TextField";
export * from "./TokenField";
export type { ControlProps } from "./types";
