// What a question is called in lists. The heading of a leave for a program is the backend's and English; the page says it itself.
import type { Question } from "../api/contract";
import type { I18n } from "../i18n";

type Asked = Pick<Question, "kind" | "form" | "approval">;

export function questionTitle({ kind, form, approval }: Asked, t: I18n["t"]): string {
  if (kind !== "approval" || !approval) return form.title;
  return approval.mayHaveHappened ? t("home.mayHaveHappened") : t("common.runProgram", { program: approval.program });
}
