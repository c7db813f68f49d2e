// Who started a run: tile and name.
import { useI18n } from "../i18n";
import { Tile } from "../kit/Chip";
import { Reveal } from "../kit/Reveal";
import { revealText } from "../kit/text";
import { type FromFields, fromOf } from "./clients";

export function FromTile({ run, className }: { run: FromFields; className?: string }) {
  const { t } = useI18n();
  const { letters, name } = fromOf(run, t);
  return (
    <span className={className ? `app-from ${className}` : "app-from"} title={revealText(name).slice(0, 200)}>
      <Tile letters={letters} />
      <span className="app-from-name">
        <Reveal text={name} limit={200} />
      </span>
    </span>
  );
}
