// A JSON value as a tree that draws only what is on screen; keys and values searched as you type, paths copied.
import { useEffect, useId, useMemo, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ChevronRight, Search, X } from "lucide-react";
import { useI18n } from "../i18n";
import { CopyIconButton } from "./Copy";
import { Icon } from "./Icon";
import { cutText, revealText } from "./text";
import { initialOpen, searchTree, treeRows, type TreeRow } from "./tree";
import "./field.css";
import "./states.css";

export interface JsonTreeProps {
  value: unknown;
  /** The root's name, the start of copied paths: `output`. */
  root: string;
  /** The selected node's path. */
  selected?: string;
  onSelect?: (path: string, value: unknown) => void;
  /** Beside the search box. */
  tools?: ReactNode;
  /** No search box. */
  plain?: boolean;
  label: string;
}

const ROW = 24;

function Mark({ text, find }: { text: string; find: string }) {
  const at = find ? text.toLowerCase().indexOf(find.toLowerCase()) : -1;
  if (at < 0) return text;
  return (
    <>
      {text.slice(0, at)}
      <mark className="k-hit">{text.slice(at, at + find.length)}</mark>
      {text.slice(at + find.length)}
    </>
  );
}

/** Longest name that stands whole before its value. */
const LONGEST_KEY = 60;

/** A name as it stands in the tree: one that is empty is shown to be, a long one leaves room for its value. */
function shortKey(name: string): string {
  const { text, cut } = cutText(name, LONGEST_KEY);
  return name === "" ? '""' : `${revealText(text)}${cut ? "…" : ""}`;
}

function Value({ row, find }: { row: TreeRow; find: string }) {
  const { t } = useI18n();
  if (row.kind === "object" || row.kind === "array")
    return <span className="k-tree-count">{row.kind === "object" ? t("kit.keys", { count: row.size }) : t("kit.items", { count: row.size })}</span>;
  const classes = { string: "k-json-str", number: "k-json-num", boolean: "k-json-lit", null: "k-json-lit" }[row.kind];
  const text = row.kind === "string" ? JSON.stringify(cutText(row.value as string, 300).text) : String(row.value ?? null);
  return (
    <span className={`${classes} k-tree-value`} dir="ltr">
      <Mark text={revealText(text)} find={find} />
    </span>
  );
}

export function JsonTree({ value, root, selected, onSelect, tools, plain, label }: JsonTreeProps) {
  const { t } = useI18n();
  const [open, setOpen] = useState(() => initialOpen(value, root));
  const [find, setFind] = useState("");
  const [active, setActive] = useState(selected ?? root);
  const scroller = useRef<HTMLDivElement>(null);
  const id = useId();

  const found = useMemo(() => (find ? searchTree(value, root, find) : undefined), [value, root, find]);
  const rows = useMemo(() => treeRows(value, root, open, found), [value, root, open, found]);
  const rem = typeof document === "undefined" ? 16 : Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (ROW / 16) * rem,
    overscan: 12,
  });
  const at = Math.max(
    rows.findIndex((row) => row.path === active),
    0,
  );

  useEffect(() => {
    if (selected !== undefined) setActive(selected);
  }, [selected]);

  const choose = (row: TreeRow) => {
    setActive(row.path);
    onSelect?.(row.path, row.value);
  };
  const toggle = (row: TreeRow, to = !row.open) =>
    setOpen((before) => {
      const next = new Set(before);
      if (to) next.add(row.path);
      else next.delete(row.path);
      return next;
    });
  const go = (index: number) => {
    const row = rows[Math.min(Math.max(index, 0), rows.length - 1)];
    if (!row) return;
    choose(row);
    virtual.scrollToIndex(rows.indexOf(row));
  };

  const onKeyDown = (event: KeyboardEvent) => {
    const row = rows[at];
    if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
    const branch = row.kind === "object" || row.kind === "array";
    switch (event.key) {
      case "ArrowDown":
        go(at + 1);
        break;
      case "ArrowUp":
        go(at - 1);
        break;
      case "Home":
        go(0);
        break;
      case "End":
        go(rows.length - 1);
        break;
      case "PageDown":
        go(at + 20);
        break;
      case "PageUp":
        go(at - 20);
        break;
      case "ArrowRight":
        if (branch && !row.open) toggle(row, true);
        else if (branch) go(at + 1);
        break;
      case "ArrowLeft":
        if (branch && row.open && !found?.way.has(row.path)) toggle(row, false);
        else go(rows.findLastIndex((other, index) => index < at && other.depth < row.depth));
        break;
      case "Enter":
      case " ":
        if (branch) toggle(row);
        else choose(row);
        break;
      default:
        return;
    }
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div className="k-col" style={{ flex: 1, minHeight: 0 }}>
      {!plain && (
        <div className="k-tree-search">
          <span className="k-input k-input-small">
            <Icon of={Search} size={14} />
            <input
              type="search"
              data-search
              value={find}
              onChange={(event) => setFind(event.target.value)}
              onKeyDown={(event) => {
                if (event.key === "Escape" && find) {
                  setFind("");
                  event.stopPropagation();
                  event.preventDefault();
                }
              }}
              placeholder={t("kit.findKeyOrValue")}
              aria-label={t("kit.findKeyOrValue")}
            />
            {find && (
              <>
                <span className="k-sub k-num" role="status">
                  {t("kit.hits", { count: found?.hits.size ?? 0 })}
                </span>
                <button type="button" className="k-input-button" aria-label={t("common.clear")} onClick={() => setFind("")}>
                  <Icon of={X} size={14} />
                </button>
              </>
            )}
          </span>
          {tools}
        </div>
      )}
      <div
        ref={scroller}
        className="k-tree"
        role="tree"
        tabIndex={0}
        aria-label={label}
        aria-activedescendant={rows[at] ? `${id}-${at}` : undefined}
        onKeyDown={onKeyDown}
      >
        {rows.length === 0 && <div className="k-list-none">{t("kit.nothingFound", { text: find })}</div>}
        <div style={{ height: virtual.getTotalSize(), position: "relative" }} role="presentation">
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index]!;
            const branch = row.kind === "object" || row.kind === "array";
            return (
              <div
                key={row.path}
                id={`${id}-${item.index}`}
                role="treeitem"
                aria-level={row.depth + 1}
                aria-expanded={branch ? row.open : undefined}
                aria-selected={row.path === selected}
                data-active={item.index === at || undefined}
                className="k-tree-row"
                style={{
                  position: "absolute",
                  top: 0,
                  left: 0,
                  right: 0,
                  transform: `translateY(${item.start}px)`,
                  paddingLeft: `${0.5 + Math.min(row.depth, 24)}rem`,
                }}
                onClick={() => choose(row)}
                onDoubleClick={() => branch && toggle(row)}
              >
                <span
                  className="k-tree-twist"
                  data-open={row.open || undefined}
                  aria-hidden="true"
                  onClick={(event) => {
                    event.stopPropagation();
                    if (branch) toggle(row);
                    choose(row);
                  }}
                >
                  {branch && row.size > 0 && <Icon of={ChevronRight} size={13} />}
                </span>
                <span className={row.depth === 0 || row.index ? "k-dim" : "k-json-key"}>
                  <Mark text={shortKey(row.name)} find={row.index ? "" : find} />
                </span>
                {!branch && <span className="k-json-punct">:&nbsp;</span>}
                <Value row={row} find={find} />
                {row.path === active && <CopyIconButton className="k-tree-copy" label={t("kit.copyPath")} text={row.path} />}
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
