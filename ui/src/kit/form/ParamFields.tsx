// A form from a list of parameters, for running an entrypoint and for answering a question.
import { useEffect, useMemo, useState } from "react";
import { useFileDrops } from "../../app/DropOverlay";
import { useHost } from "../../host";
import { layoutFields } from "./layout";
import { ParamField } from "./ParamField";
import type { ParamForm } from "./useParamForm";
import { isList, own } from "./value";
import "../field.css";

export interface ParamFieldsProps {
  form: ParamForm;
  /** Everything stays readable and selectable, nothing can be changed. */
  locked?: boolean;
  /** Takes files that are dropped on the window into the first file field, or the one last used. */
  takesDrops?: boolean;
}

export function ParamFields({ form, locked, takesDrops = true }: ParamFieldsProps) {
  const { fields, draft, faults, set, leave, register } = form;
  const [lastFile, setLastFile] = useState<string>();
  const [over, setOver] = useState(false);
  const widths = useMemo(() => layoutFields(fields, draft), [fields, draft]);

  const files = fields.filter((field) => field.type === "file");
  const target = files.find((field) => field.name === lastFile) ?? files[0];
  const take = (paths: string[]): boolean => {
    if (!target) return false;
    set(target.name, (before: unknown) => {
      const now = Array.isArray(before) ? (before as string[]) : [];
      return isList(target) ? [...now, ...paths.filter((path) => !now.includes(path))] : paths[0];
    });
    return true;
  };

  return (
    <div className="k-form-wrap">
      {takesDrops && !locked && target && <TakeDrops take={take} onOver={setOver} />}
      <div className="k-form">
        {fields.map((field, index) => (
          <ParamField
            key={field.name}
            field={field}
            value={own(draft, field.name)}
            fault={Object.hasOwn(faults, field.name) ? faults[field.name] : undefined}
            onChange={(value) => {
              if (field.type === "file") setLastFile(field.name);
              set(field.name, value);
            }}
            onBlur={() => leave(field.name)}
            width={widths[index]!}
            locked={locked}
            place={register(field.name)}
            over={over && field.name === target?.name}
          />
        ))}
      </div>
    </div>
  );
}

/** Files dropped anywhere on the window go to the form while this is mounted. */
function TakeDrops({ take, onOver }: { take: (paths: string[]) => boolean; onOver: (over: boolean) => void }) {
  const host = useHost();
  useFileDrops((paths) => {
    onOver(false);
    return take(paths);
  });
  useEffect(() => host.onOver(onOver), [host, onOver]);
  return null;
}
