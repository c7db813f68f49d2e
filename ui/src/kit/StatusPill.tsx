import type { RunStatus } from "../api/contract";
import { useI18n } from "../i18n";
import type { Tone } from "./Chip";
import { Glyph, STATUS_WORDS } from "./Glyph";

export const STATUS_TONE: Record<RunStatus, Tone> = {
  queued: "idle",
  running: "run",
  waiting_for_input: "wait",
  success: "ok",
  failed: "fail",
  timeout: "fail",
  cancelled: "idle",
  interrupted: "intr",
};

/** Glyph and word of a run's state, for headers. */
export function StatusPill({ status }: { status: RunStatus }) {
  const { t } = useI18n();
  return (
    <span className={`k-pill k-pill-${STATUS_TONE[status]}`}>
      <Glyph name={status} size={14} label="" />
      {t(STATUS_WORDS[status])}
    </span>
  );
}
