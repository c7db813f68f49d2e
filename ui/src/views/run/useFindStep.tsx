// Finding a step in a list of them: a button, and the box that it brings.
import { type ReactNode, type RefObject, useState } from "react";
import { Search } from "lucide-react";
import { useI18n } from "../../i18n";
import { IconButton } from "../../kit/Button";
import { FindBox } from "../../kit/FindBox";

interface FindStep {
  /** What was typed, in small letters; empty when nothing is looked for. */
  needle: string;
  button: ReactNode;
  box: ReactNode;
}

/** The focus goes back to `list` when the box is closed. */
export function useFindStep(list: RefObject<HTMLElement | null>, className: string): FindStep {
  const { t } = useI18n();
  const [find, setFind] = useState<string | null>(null);
  const isOpen = find !== null;
  return {
    needle: (find ?? "").toLowerCase(),
    button: <IconButton icon={Search} label={t("run.findStep")} size="small" pressed={isOpen} onClick={() => setFind(isOpen ? null : "")} />,
    box: isOpen && (
      <FindBox
        className={className}
        value={find}
        onChange={setFind}
        label={t("run.findStep")}
        onClose={() => {
          setFind(null);
          list.current?.focus();
        }}
      />
    ),
  };
}
