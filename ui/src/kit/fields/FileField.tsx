// Files by path: chosen with the system's dialog, or dropped. The window gives paths; sizes and whether a file fits is told by the backend.
import { useState } from "react";
import { CircleX, FileText, Upload, X } from "lucide-react";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import { Button, IconButton } from "../Button";
import { Icon } from "../Icon";
import { revealText } from "../text";
import { ariaOf, type ControlProps } from "./types";
import "../field.css";
import { toastError } from "../toast";

export interface FileFieldProps extends ControlProps<readonly string[]> {
  multiple?: boolean;
  /** What is wrong with single files, by position. */
  faults?: ReadonlyMap<number, string>;
  /** Files are over the window: the field shows that it takes them. */
  over?: boolean;
}

/** Rows shown before "n more". */
const SHOWN = 3;

/** What a person recognises: the last two steps of a path. */
export function fileName(path: string): string {
  return path.split(/[\\/]/).filter(Boolean).slice(-2).join("/");
}

export function FileField({ value, onChange, onBlur, multiple, faults, over, locked, ...rest }: FileFieldProps) {
  const { t } = useI18n();
  const host = useHost();
  const [all, setAll] = useState(false);

  const choose = () => {
    host.pickFiles(multiple ?? false).then(
      (paths) => {
        if (paths.length > 0) onChange(multiple ? [...value, ...paths.filter((path) => !value.includes(path))] : paths.slice(0, 1));
        onBlur?.();
      },
      (thrown: unknown) => toastError(thrown, t),
    );
  };

  // A wrong file is never hidden behind "n more".
  const shown = value
    .map((path, index) => ({ path, index }))
    .filter(({ index }) => all || value.length <= SHOWN + 1 || index < SHOWN || faults?.has(index));
  const hidden = value.length - shown.length;

  return (
    <div className="k-files">
      {value.length > 0 && (
        <div className="k-panel k-rows">
          {shown.map(({ path, index }) => {
            const wrong = faults?.get(index);
            return (
              <div key={path} className="k-file-row" data-invalid={wrong ? true : undefined}>
                <Icon of={wrong ? CircleX : FileText} size={16} className={wrong ? "k-fail" : undefined} />
                <span className="k-trunc k-grow" title={revealText(path)} dir="ltr">
                  {revealText(fileName(path))}
                </span>
                {wrong && <span className="k-sm k-fail k-break">{wrong}</span>}
                {!locked && (
                  <IconButton
                    icon={X}
                    size="small"
                    iconSize={14}
                    label={t("kit.remove", { name: revealText(fileName(path)) })}
                    onClick={() => {
                      onChange(value.filter((_, other) => other !== index));
                      onBlur?.();
                    }}
                  />
                )}
              </div>
            );
          })}
          {hidden > 0 && (
            <div className="k-file-row">
              <span className="k-dim k-grow" style={{ paddingLeft: "1.625rem" }}>
                {t("kit.filesMore", { count: hidden })}
              </span>
              <Button look="quiet" size="small" onClick={() => setAll(true)}>
                {t("kit.show")}
              </Button>
            </div>
          )}
        </div>
      )}
      {!locked && (multiple || value.length === 0) && (
        <div className="k-drop" data-over={over || undefined} data-invalid={(rest.invalid && !faults?.size) || undefined}>
          <Icon of={Upload} size={16} />
          <span className="k-grow">{multiple ? t("kit.dropFiles") : t("kit.dropFile")}</span>
          <Button
            size="small"
            {...ariaOf({
              ...rest,
              labelledBy: rest.labelledBy ? `${rest.labelledBy} ${rest.id}` : undefined,
              required: undefined,
              invalid: undefined,
            })}
            onClick={choose}
          >
            {t("kit.choose")}
          </Button>
        </div>
      )}
    </div>
  );
}
