import { useI18n } from "../i18n";
import { useNow } from "./clock";

/** The time since then, second by second. Only this text is drawn again, so a row may hold it and stand still. */
export function Elapsed({ from }: { from: number }) {
  const { format } = useI18n();
  return <>{format.clock(useNow(1000) - from)}</>;
}
