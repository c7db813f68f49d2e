// All runs of a project, newest first, page by page. Searching and comparing is the work of Runs, one link away with the same filter.
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { ArrowUp, Play, Search } from "lucide-react";
import type { ApiError, RunsPage } from "../../api/contract";
import { openRunForm } from "../../app/overlays";
import { Link } from "../../app/router";
import { toApiError, useHost } from "../../host";
import { useI18n } from "../../i18n";
import { BoneRows, Button, Empty, ErrorState, Icon } from "../../kit";
import { runsOf } from "./links";
import { RunLine } from "./RunLine";

const PAGE = 200;
/** Pixels at text size 100 %. */
const ROW = 37;

export function RunsTab({ project, canRun }: { project: string; canRun: boolean }) {
  const { t } = useI18n();
  const host = useHost();
  const scroller = useRef<HTMLDivElement>(null);
  const list = useInfiniteQuery<RunsPage, ApiError, { pages: RunsPage[] }, unknown[], string | undefined>({
    queryKey: ["runs", { query: { project }, pages: true }],
    queryFn: ({ pageParam }) =>
      host.call("runs", { query: { project }, after: pageParam, limit: PAGE }).catch((thrown: unknown) => Promise.reject(toApiError(thrown))),
    initialPageParam: undefined,
    getNextPageParam: (page) => page.next,
  });
  const rows = useMemo(() => list.data?.pages.flatMap((page) => page.rows) ?? [], [list.data]);
  const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (ROW / 16) * rem,
    getItemKey: (index) => rows[index]!.runId,
    overscan: 10,
  });
  const items = virtual.getVirtualItems();

  // New runs come above; the rows under the pointer stay where they are, and a pill says what is new.
  const [fresh, setFresh] = useState(0);
  const top = useRef<string>(undefined);
  useLayoutEffect(() => {
    const added = top.current === undefined ? 0 : rows.findIndex((row) => row.runId === top.current);
    top.current = rows[0]?.runId;
    const list = scroller.current;
    if (added <= 0 || !list || list.scrollTop === 0) return;
    list.scrollTop += added * (ROW / 16) * rem;
    setFresh((count) => count + added);
  }, [rows, rem]);
  const lastShown = items.at(-1)?.index ?? 0;
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  useEffect(() => {
    if (hasNextPage && !isFetchingNextPage && lastShown > rows.length - PAGE / 2) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage, lastShown, rows.length]);

  if (list.error && !list.data)
    return (
      <div className="pj-scroll">
        <ErrorState error={list.error} onRetry={() => void list.refetch()} />
      </div>
    );
  if (list.isPending)
    return (
      <div className="pj-scroll">
        <BoneRows rows={10} />
      </div>
    );
  if (rows.length === 0)
    return (
      <Empty icon={Play} title={t("project.noRuns")} text={t("project.noRunsText")}>
        {canRun && (
          <Button look="primary" icon={Play} onClick={() => openRunForm({ project })}>
            {t("project.runSomething")}
          </Button>
        )}
      </Empty>
    );
  const total = list.data.pages[0]?.total;
  return (
    <div className="pj-runs">
      <div className="k-section-head pj-runs-head">
        <span className="k-sub k-num">{total === undefined ? "" : t("common.runsCount", { count: total })}</span>
        <span className="k-grow" />
        <Link to={runsOf({ project })} className="k-btn k-btn-small">
          <Icon of={Search} size={14} className="k-btn-icon" />
          <span>{t("project.searchRuns")}</span>
        </Link>
      </div>
      <div ref={scroller} className="app-scroll k-panel k-clip pj-runs-list" onScroll={(event) => event.currentTarget.scrollTop === 0 && setFresh(0)}>
        {fresh > 0 && (
          <div className="pj-fresh">
            <Button size="small" icon={ArrowUp} onClick={() => scroller.current?.scrollTo({ top: 0 })}>
              {t("project.newRuns", { count: fresh })}
            </Button>
          </div>
        )}
        <ul style={{ height: virtual.getTotalSize(), position: "relative" }} aria-label={t("project.tabRuns")}>
          {items.map((item) => (
            <li
              key={item.key}
              aria-posinset={item.index + 1}
              aria-setsize={total ?? (hasNextPage ? -1 : rows.length)}
              className="pj-runs-row"
              style={{ position: "absolute", top: 0, left: 0, right: 0, height: item.size, transform: `translateY(${item.start}px)` }}
            >
              <RunLine run={rows[item.index]!} when />
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}
