// The board of a project: cards in columns by status, a card's own page, and what else the board keeps (documents, changelog, memory, findings).
import { useCallback, useDeferredValue, useEffect, useMemo, useRef, useState } from "react";
import { createPortal } from "react-dom";
import { Plus, SquareKanban } from "lucide-react";
import type { BoardCard, ProjectRow } from "../../api/contract";
import { useData } from "../../api/queries";
import { useActions } from "../../app/actions";
import { useRemembered } from "../../app/memory";
import { setParams, useAddress } from "../../app/router";
import { useWidth } from "../../app/useWidth";
import { useI18n } from "../../i18n";
import { Bone, Button, Empty, ErrorState, Late, revealText, Segmented, toast } from "../../kit";
import { AskPopover } from "./AskPopover";
import { Changelog } from "./Changelog";
import { Columns } from "./Columns";
import { Drawer } from "./Drawer";
import { Findings } from "./Findings";
import { type BoardFilter, columnsOf, overlapPairs, overlapsOf } from "./model";
import { NewCard } from "./NewCard";
import { Texts } from "./Texts";
import { Legend, Toolbar } from "./Toolbar";
import { useBoardRead, useBoardWriter } from "./useBoard";
import { type Refusal, useMoves } from "./useMoves";
import { priorityWord, typeWord } from "./words";
import "./board.css";

const PARTS = ["cards", "documents", "changelog", "memory", "findings"] as const;
type Part = (typeof PARTS)[number];
const PART_WORDS = {
  cards: "board.partCards",
  documents: "board.partDocuments",
  changelog: "board.partChangelog",
  memory: "board.partMemory",
  findings: "board.partFindings",
} as const;

/** Below this width, in rem, one column is shown. */
const ONE_COLUMN_BELOW = 45;
/** How often a visible board is read, in milliseconds: the feed watches the files of boards that were read within the last 10 s. */
const WATCHED_EVERY = 8_000;
/** How long typing rests before the texts of the cards are searched, in milliseconds: each search is recorded in the history. */
const SEARCH_AFTER = 400;

export interface BoardProps {
  project: ProjectRow;
  /** The right end of the project's bar, for the button that makes a card. */
  bar: HTMLElement | null;
  /** The right end of the project's tabs, for the parts of the board. */
  tabsEnd: HTMLElement | null;
}

function Bones() {
  return (
    <Late>
      <div className="bd-toolbar" aria-hidden="true">
        <Bone width="13.75rem" height="1.75rem" />
      </div>
      <div className="bd-canvas" aria-hidden="true">
        {[4, 3, 4, 2, 1, 2].map((cards, index) => (
          <div key={index} className="bd-column">
            <div className="bd-column-head">
              <Bone width="4rem" />
            </div>
            <div className="bd-cards">
              {Array.from({ length: cards }, (_, at) => (
                <div key={at} className="bd-card">
                  <Bone width="4rem" />
                  <Bone width="100%" />
                  <Bone width="60%" />
                </div>
              ))}
            </div>
          </div>
        ))}
      </div>
    </Late>
  );
}

/** Keeps the feed's watch over the board's files while somebody looks at it. An answer like the one before changes nothing on screen. */
function useWatch(refetch: () => unknown): void {
  const latest = useRef(refetch);
  useEffect(() => {
    latest.current = refetch;
  });
  useEffect(() => {
    const look = () => {
      if (document.visibilityState === "visible") void latest.current();
    };
    const timer = window.setInterval(look, WATCHED_EVERY);
    document.addEventListener("visibilitychange", look);
    return () => {
      window.clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, []);
}

/** Ids of cards that the search through all texts names; only for the text as it now stands. */
function useTextSearch(project: string, text: string, mark: string | undefined) {
  const [asked, setAsked] = useState("");
  const trimmed = text.trim();
  useEffect(() => {
    const timer = setTimeout(() => setAsked(trimmed), SEARCH_AFTER);
    return () => clearTimeout(timer);
  }, [trimmed]);
  const isAsked = asked === trimmed && asked.length > 1 && mark !== undefined;
  const { data, error } = useBoardRead<{ records: { id: string }[] }>(
    project,
    "project_search",
    { query: asked, kinds: ["card"], limit: 100 },
    mark ?? "",
    isAsked,
  );
  const found = useMemo(() => new Set(isAsked ? data?.records.map(({ id }) => id) : []), [data, isAsked]);
  return { found, fault: isAsked ? error?.message : undefined };
}

export default function Board({ project: row, bar, tabsEnd }: BoardProps) {
  const { t, format } = useI18n();
  const project = row.key;
  const root = useRef<HTMLDivElement>(null);
  const width = useWidth(root);
  const { search } = useAddress();
  const board = useData("board_view", { project });
  const view = board.data;
  useWatch(board.refetch);
  const writer = useBoardWriter(project);
  const [withHidden, setWithHidden] = useRemembered(`board-hidden.${project}`, false);
  const [picked, setPicked] = useRemembered<string | null>(`board-column.${project}`, null);
  const [creating, setCreating] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<Refusal | null>(null);
  const focusCard = useRef<((id: string) => void) | null>(null);

  const part: Part = PARTS.find((name) => name === search.get("part")) ?? "cards";
  const open = search.get("card");
  const filter: BoardFilter = {
    text: search.get("q") ?? "",
    area: search.get("area") ?? undefined,
    type: search.get("type") ?? undefined,
    priority: search.get("priority") ?? undefined,
  };
  const text = useDeferredValue(filter.text);
  const { found, fault } = useTextSearch(project, filter.text, view?.mark);

  const onRefused = useCallback((refused: Refusal) => {
    setRefusal(refused);
    setParams({ card: refused.id });
  }, []);
  const moves = useMoves(project, view, writer, onRefused);
  const overlaps = useMemo(() => overlapsOf(view?.cards ?? []), [view]);
  const columns = useMemo(
    () => (view ? columnsOf(view, { text, area: filter.area, type: filter.type, priority: filter.priority }, found, withHidden, moves.moving) : []),
    [view, text, filter.area, filter.type, filter.priority, found, withHidden, moves.moving],
  );
  const order = useMemo(() => columns.flatMap(({ cards }) => cards.map(({ id }) => id)), [columns]);

  const isNarrow = width !== undefined && width < ONE_COLUMN_BELOW;
  const only = isNarrow
    ? (columns.find(({ status }) => status.id === picked)?.status.id ??
      columns.find(({ cards }) => cards.length > 0)?.status.id ??
      columns[0]?.status.id)
    : undefined;
  const isFiltered = filter.text !== "" || filter.area !== undefined || filter.type !== undefined || filter.priority !== undefined;
  const canCreate = view !== undefined && !view.readOnly;
  const newIn = view?.statuses.find(({ needs, terminal, hidden }) => needs.length === 0 && !terminal && !hidden)?.id ?? "backlog";

  /** Which of the conditions would help when it went, and how many cards that would show. */
  const relaxed = useMemo(() => {
    if (!view || order.length > 0) return [];
    const conditions: { name: string; label: string; without: Partial<BoardFilter> }[] = [
      ...(text ? [{ name: "q", label: t("board.quoted", { text }), without: { text: "" } }] : []),
      ...(filter.area ? [{ name: "area", label: filter.area, without: { area: undefined } }] : []),
      ...(filter.type ? [{ name: "type", label: typeWord(filter.type, t), without: { type: undefined } }] : []),
      ...(filter.priority ? [{ name: "priority", label: priorityWord(filter.priority, t), without: { priority: undefined } }] : []),
    ];
    if (conditions.length < 2) return [];
    return conditions
      .map(({ name, label, without }) => ({
        name,
        label: revealText(label).slice(0, 60),
        count: columnsOf(view, { text, area: filter.area, type: filter.type, priority: filter.priority, ...without }, found, withHidden).reduce(
          (sum, { cards }) => sum + cards.length,
          0,
        ),
      }))
      .filter(({ count }) => count > 0);
  }, [view, order, text, filter.area, filter.type, filter.priority, found, withHidden, t]);

  const openCard = (id: string) => {
    setRefusal(null);
    setParams({ card: id }, { replace: open !== null });
  };
  const close = () => {
    setRefusal(null);
    setParams({ card: null });
    if (open) focusCard.current?.(open);
  };
  const clear = () => setParams({ q: null, area: null, type: null, priority: null });
  const go = (next: Part) => setParams({ part: next === "cards" ? null : next, card: null, doc: null });
  useActions([
    ...(part === "cards"
      ? [
          {
            id: "board.search",
            title: t("board.actSearch"),
            group: "view" as const,
            keys: "/",
            run: () => root.current?.querySelector<HTMLInputElement>("[data-search]")?.focus(),
          },
        ]
      : []),
    {
      id: "board.new",
      title: t("board.newCard"),
      group: "do",
      keys: "N",
      icon: Plus,
      ...(view?.readOnly ? { off: t("board.readOnlyWhy") } : {}),
      run: () => canCreate && setCreating(newIn),
    },
    ...PARTS.filter((name) => name !== part).map((name) => ({
      id: `board.part.${name}`,
      keys: `B ${PARTS.indexOf(name) + 1}`,
      title: t("board.actOpenPart", { part: t(PART_WORDS[name]) }),
      group: "view" as const,
      run: () => go(name),
    })),
  ]);

  const counts: Record<Part, number | undefined> = {
    cards: undefined,
    documents: view?.documents,
    changelog: view?.fragments,
    memory: view?.memory,
    findings: view?.findings,
  };
  const parts = (
    <Segmented<Part>
      label={t("board.parts")}
      size="small"
      value={part}
      items={PARTS.map((name) => ({
        value: name,
        label: (
          <>
            {t(PART_WORDS[name])}
            {counts[name] !== undefined && <span className="bd-part-count k-num">{format.number(counts[name])}</span>}
          </>
        ),
      }))}
      onChange={go}
    />
  );
  const legend = view && <Legend view={view} overlaps={overlapPairs(overlaps)} />;

  return (
    <div className="bd" ref={root} data-drawer={(open !== null && part === "cards") || undefined}>
      {/* Beside the tabs where there is room, else in a row of their own: the style sheet shows one of both. */}
      {tabsEnd && createPortal(<span className="bd-parts-beside">{parts}</span>, tabsEnd)}
      {bar &&
        createPortal(
          <Button
            look="primary"
            icon={Plus}
            keys="N"
            offBecause={view?.readOnly ? t("board.readOnlyWhy") : undefined}
            onClick={() => canCreate && setCreating(newIn)}
          >
            {t("board.newCard")}
          </Button>,
          bar,
        )}
      {board.error && !view ? (
        <div className="bd-part">
          <ErrorState error={board.error} onRetry={() => void board.refetch()} />
        </div>
      ) : !view ? (
        <Bones />
      ) : part !== "cards" ? (
        <>
          <div className="bd-toolbar bd-toolbar-parts">{parts}</div>
          {part === "documents" || part === "memory" ? (
            <Texts key={part} project={project} folder={row.path} mark={view.mark} kind={part} />
          ) : part === "changelog" ? (
            <Changelog project={project} mark={view.mark} />
          ) : (
            <Findings project={project} view={view} />
          )}
        </>
      ) : (
        <>
          <div className="bd-toolbar bd-toolbar-parts">
            {parts}
            <span className="k-grow" />
            {legend}
          </div>
          <Toolbar
            view={view}
            filter={filter}
            onText={(q) => setParams({ q })}
            withHidden={withHidden}
            onHidden={setWithHidden}
            legend={legend}
            fault={fault}
            picker={only === undefined ? undefined : { columns, only, onPick: setPicked }}
          />
          {view.cards.every(({ archived }) => archived) ? (
            <Empty icon={SquareKanban} title={t("board.noCards")} text={t("board.noCardsText")}>
              {canCreate && (
                <Button icon={Plus} onClick={() => setCreating(newIn)}>
                  {t("board.newCard")}
                </Button>
              )}
            </Empty>
          ) : order.length === 0 && isFiltered ? (
            <Empty
              icon={SquareKanban}
              title={t("board.noMatch")}
              text={t("board.noMatchText", { count: view.cards.filter(({ archived }) => !archived).length })}
            >
              {relaxed.map(({ name, label, count }) => (
                <Button key={name} onClick={() => setParams({ [name]: null })}>
                  {t("board.without", { what: label, n: count })}
                </Button>
              ))}
              <Button look={relaxed.length > 0 ? "quiet" : "default"} onClick={clear}>
                {t("board.clearFilters")}
              </Button>
            </Empty>
          ) : (
            <Columns
              project={project}
              view={view}
              columns={columns}
              only={only}
              overlaps={overlaps}
              open={open}
              moves={moves}
              focusRef={focusCard}
              onOpen={(card: BoardCard) => openCard(card.id)}
              onNew={setCreating}
            />
          )}
          {open !== null && (
            <Drawer
              project={project}
              folder={row.path}
              id={open}
              view={view}
              order={order}
              overlaps={overlaps.get(open) ?? []}
              refusal={refusal?.id === open ? refusal : null}
              writer={writer}
              onMove={(card, status, anchor) => {
                setRefusal(null);
                void moves.attempt(card, status, anchor);
              }}
              onClose={close}
            />
          )}
        </>
      )}
      <AskPopover ask={moves.ask} onAnswer={moves.answer} onLeave={moves.leave} />
      {creating !== null && view && (
        <NewCard
          project={project}
          view={view}
          writer={writer}
          status={creating}
          onClose={() => setCreating(null)}
          onCreated={(id) => {
            setCreating(null);
            toast(t("board.created", { id }));
            setParams({ part: null, card: id });
          }}
        />
      )}
    </div>
  );
}
