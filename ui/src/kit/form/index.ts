export { dropDraft, loadDraft, saveDraft } from "./drafts";
export { fieldTitle } from "./ParamField";
export { ParamFields, type ParamFieldsProps } from "./ParamFields";
export { useParamForm, type ParamForm, type ParamFormOptions } from "./useParamForm";
export { readDraft, readField, toDraft, type Draft, type FaultMap, type FieldFault } from "./value";
