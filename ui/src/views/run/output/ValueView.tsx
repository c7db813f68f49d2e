// One value of an output, in the form that suits it: table, tree, text, Markdown, JSON.
import { useMemo } from "react";
import { Braces, Download, ListTree, Pilcrow, Table, Type } from "lucide-react";
import { useI18n } from "../../../i18n";
import { IconButton } from "../../../kit/Button";
import { CopyIconButton } from "../../../kit/Copy";
import { DataTable } from "../../../kit/DataTable";
import { Icon } from "../../../kit/Icon";
import { JsonTree } from "../../../kit/JsonTree";
import { Markdown } from "../../../kit/Markdown";
import { Reveal } from "../../../kit/Reveal";
import { Segmented } from "../../../kit/Segmented";
import { columnsOf, isTable } from "../../../kit/table";
import { useRemembered } from "../../../app/memory";

type Form = "table" | "tree" | "json" | "markdown" | "plain";

/** Forms a value can be shown in, best first. */
export function formsOf(value: unknown): Form[] {
  if (isTable(value)) return ["table", "tree", "json"];
  if (typeof value === "string") return looksLikeMarkdown(value) ? ["markdown", "plain", "json"] : ["plain", "markdown", "json"];
  if (typeof value === "object" && value !== null) return ["tree", "json"];
  return ["json"];
}

export function looksLikeMarkdown(text: string): boolean {
  const head = text.slice(0, 4_000);
  return /^#{1,6} \S|^\s*[-*+] \S.*\n\s*[-*+] \S|^```|\*\*[^*\n]+\*\*|\[[^\]\n]+\]\(https?:/m.test(head);
}

/** A short list of plain values reads better without brackets. */
function listCell(column: { key: string }, row: Record<string, unknown>) {
  const value = row[column.key];
  return Array.isArray(value) && value.length > 0 && value.length <= 30 && value.every((one) => one === null || typeof one !== "object") ? (
    <span className="k-table-cell">
      <Reveal text={value.map(String).join(", ")} limit={400} />
    </span>
  ) : undefined;
}

/** Longest JSON text that is written out at once. */
const MOST_JSON = 500_000;

export function ValueView({ path, value, onSave }: { path: string; value: unknown; onSave?: () => void }) {
  const { t } = useI18n();
  const forms = useMemo(() => formsOf(value), [value]);
  const [wanted, setWanted] = useRemembered<Form | null>("run.output.form", null);
  const form = wanted !== null && forms.includes(wanted) ? wanted : (forms[0] ?? "json");
  const json = useMemo(() => (form === "json" ? (JSON.stringify(value, null, 2) ?? "null") : ""), [form, value]);
  const icons = { table: Table, tree: ListTree, json: Braces, markdown: Pilcrow, plain: Type };
  const columns = useMemo(() => (isTable(value) ? columnsOf(value).length : 0), [value]);
  const about = Array.isArray(value)
    ? columns > 0
      ? t("run.rowsColumns", { count: value.length, columns })
      : t("kit.items", { count: value.length })
    : typeof value === "object" && value !== null
      ? t("kit.keys", { count: Object.keys(value).length })
      : typeof value === "string"
        ? t("run.characters", { count: value.length })
        : "";
  return (
    <>
      <div className="ou-head">
        <span className="k-mono k-trunc ou-path" title={path}>
          <Reveal text={path} limit={300} />
        </span>
        <CopyIconButton text={path} label={t("kit.copyPath")} />
        <span className="k-sub k-num k-trunc">{about}</span>
        <span className="k-grow" />
        <CopyIconButton text={() => (typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "null"))} label={t("run.copyValue")} />
        {onSave && <IconButton icon={Download} label={t("run.saveValue")} size="small" iconSize={14} onClick={onSave} />}
        {forms.length > 1 && (
          <Segmented
            label={t("run.showAs")}
            value={form}
            onChange={(next) => setWanted(next === forms[0] ? null : next)}
            items={forms.map((one) => ({
              value: one,
              label: (
                <span className="ou-form">
                  <Icon of={icons[one]} size={13} />
                  {t(`run.form_${one}`)}
                </span>
              ),
              title: t(`run.form_${one}`),
            }))}
          />
        )}
      </div>
      <div className={form === "tree" ? "ou-value ou-value-tree" : "ou-value"}>
        {form === "table" && isTable(value) && <DataTable rows={value} label={path} cell={listCell} counted />}
        {form === "tree" && <JsonTree key={path} value={value} root={path} plain label={path} />}
        {form === "markdown" && <Markdown text={String(value)} />}
        {form === "plain" && (
          <div className="ou-plain">
            <Reveal text={String(value)} limit={20_000} />
          </div>
        )}
        {form === "json" && (
          <pre className="k-code">
            <Reveal text={json.slice(0, MOST_JSON)} limit={100_000} />
            {json.length > MOST_JSON && <span className="k-dim"> …</span>}
          </pre>
        )}
      </div>
    </>
  );
}
