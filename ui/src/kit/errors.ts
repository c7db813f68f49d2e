// What a failure is called in the person's language. The backend's own sentence is English and names things: it stands behind "Details".
import type { ApiError, ApiErrorCode } from "../api/contract";
import { toApiError } from "../host";
import type { I18n, MessageKey } from "../i18n";

/** Every code; one that is missing here doesn't compile. */
const KNOWN: Record<ApiErrorCode, true> = {
  not_found: true,
  invalid_input: true,
  conflict: true,
  running: true,
  already_answered: true,
  not_waiting: true,
  project_missing: true,
  no_project: true,
  project_broken: true,
  store_unavailable: true,
  store_too_new: true,
  disk_full: true,
  permission: true,
  secret_service: true,
  client_file: true,
  unsupported: true,
  internal: true,
};

/** The message key for a code; codes of a newer backend read as "internal". */
export function errorKey(code: string): MessageKey {
  return `common.error_${Object.hasOwn(KNOWN, code) ? (code as ApiErrorCode) : "internal"}`;
}

/** Everything a person would paste into a report, as plain text. */
export function errorDetails(error: ApiError): string {
  return JSON.stringify({ code: error.code, message: error.message, hint: error.hint, detail: error.detail }, null, 2);
}

/** A failure as a person reads it: the code in their language, and what the backend said word for word. */
export function errorWords(thrown: unknown, t: I18n["t"]): { text: string; details: string } {
  const error = toApiError(thrown);
  return { text: t(errorKey(error.code)), details: [error.message, error.hint].filter(Boolean).join("\n") };
}
