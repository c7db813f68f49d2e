// The one box: text is looked for 80 ms after the last key; `status:failed` and its like become chips with the space behind them.
import { Search, X } from "lucide-react";
import { type KeyboardEvent, type Ref, useEffect, useRef, useState } from "react";
import { useData } from "../../api/queries";
import { navigate, address, runAddress } from "../../app/router";
import { useI18n } from "../../i18n";
import { Icon } from "../../kit/Icon";
import { Kbd } from "../../kit/Kbd";
import { type Filters, LONGEST_TEXT, parseRunLink, takeTokens } from "./query";

/** Milliseconds after the last key. */
const WAIT = 80;

export interface SearchBoxProps {
  filters: Filters;
  onChange: (filters: Filters) => void;
  /** "9 of 1,204,318 runs, 6 ms" */
  result: string;
  inputRef: Ref<HTMLInputElement>;
  onLeave: () => void;
}

export function SearchBox({ filters, onChange, result, inputRef, onLeave }: SearchBoxProps) {
  const { t } = useI18n();
  const projects = useData("projects", {}).data ?? [];
  const [typed, setTyped] = useState(filters.text);
  const sent = useRef(filters.text);
  const timer = useRef<number | undefined>(undefined);
  const composing = useRef(false);

  // The address changed by something else than this box: back, a chip, a saved view.
  useEffect(() => {
    if (filters.text === sent.current) return;
    sent.current = filters.text;
    window.clearTimeout(timer.current);
    setTyped(filters.text);
  }, [filters.text]);
  useEffect(() => () => window.clearTimeout(timer.current), []);

  const send = (next: Filters) => {
    sent.current = next.text;
    onChange(next);
  };
  const change = (value: string) => {
    window.clearTimeout(timer.current);
    const next = composing.current ? { ...filters, text: value } : takeTokens(value, filters, projects);
    setTyped(next.text);
    // What became a chip is sent at once: the next key may come before any timer.
    if (next.text === value) timer.current = window.setTimeout(() => send(next), WAIT);
    else send(next);
  };
  const onKeyDown = (event: KeyboardEvent<HTMLInputElement>) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter") {
      // What waits to be sent would come after the address has changed.
      window.clearTimeout(timer.current);
      const link = parseRunLink(typed);
      if (link) {
        navigate(link.line === undefined ? runAddress(link.run) : address(["run", link.run, "logs"], { line: link.line }));
        return;
      }
      const next = takeTokens(typed, filters, projects, true);
      setTyped(next.text);
      send(next);
    } else if (event.key === "Escape") {
      event.preventDefault();
      if (typed) change("");
      else onLeave();
    } else if (event.key === "ArrowDown") {
      event.preventDefault();
      onLeave();
    }
  };

  return (
    <div className="runs-search" role="search">
      <Icon of={Search} size={16} />
      <input
        ref={inputRef}
        type="search"
        value={typed}
        maxLength={LONGEST_TEXT}
        placeholder={t("runs.search")}
        aria-label={t("runs.search")}
        title={typed ? undefined : t("runs.searchHint")}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => change(event.target.value)}
        onKeyDown={onKeyDown}
        onCompositionStart={() => (composing.current = true)}
        onCompositionEnd={(event) => {
          composing.current = false;
          change(event.currentTarget.value);
        }}
      />
      <span className="k-sub k-num runs-result" role="status">
        {result}
      </span>
      {typed ? (
        <button type="button" className="runs-search-clear" aria-label={t("runs.clear")} onClick={() => change("")}>
          <Icon of={X} size={14} />
        </button>
      ) : (
        <Kbd keys="/" className="runs-search-key" />
      )}
    </div>
  );
}
