// Home: what waits for a person, what runs, what was last. Every number and row leads on.
import { Play, Plus } from "lucide-react";
import { useEffect, useRef } from "react";
import type { Home as HomeData } from "../../api/contract";
import { useData } from "../../api/queries";
import { useActions } from "../../app/actions";
import { Bar } from "../../app/Bar";
import { useAddProject } from "../../app/DropOverlay";
import { openRunForm } from "../../app/overlays";
import { address, Link } from "../../app/router";
import { useTitle } from "../../app/title";
import { setTrail } from "../../app/trail";
import { useRoving } from "../../app/useRoving";
import { startOfDay } from "../../i18n/format";
import { useI18n } from "../../i18n";
import { Button } from "../../kit/Button";
import { BoneRows, ErrorState } from "../../kit/States";
import { useNow } from "../../app/clock";
import { FirstSteps } from "./FirstSteps";
import { Recent } from "./Recent";
import { Running } from "./Running";
import { Waiting } from "./Waiting";
import "./home.css";

/** Today in numbers; each is a link to Runs with that filter. */
function Today({ today }: { today: HomeData["today"] }) {
  const { t, rich, format } = useI18n();
  const day = format.isoDate(startOfDay(useNow(60_000)));
  const to = (status?: string) => address(["runs"], { after: day, status });
  const bold = (n: number | string, tone?: string) => <b className={tone}>{typeof n === "number" ? format.number(n) : n}</b>;
  return (
    <span className="home-today k-num">
      <span className="home-today-word">{t("home.today")}</span>
      <Link to={to()}>{rich("home.todayRuns", { count: today.runs, n: bold(today.runs) })}</Link>
      {today.failed > 0 && <Link to={to("failed,timeout")}>{rich("home.todayFailed", { n: bold(today.failed, "k-fail") })}</Link>}
      {(today.interrupted ?? 0) > 0 && (
        <Link to={to("interrupted")}>{rich("home.todayInterrupted", { n: bold(today.interrupted ?? 0, "k-intr") })}</Link>
      )}
      {today.medianMs !== undefined && <span>{rich("home.todayMedian", { n: bold(format.duration(today.medianMs)) })}</span>}
    </span>
  );
}

export default function Home() {
  const { t } = useI18n();
  const { data, error, refetch } = useData("home", {});
  const body = useRef<HTMLDivElement>(null);
  const onKeyDown = useRoving(body);
  const addProject = useAddProject();
  useTitle(t("home.title"));

  useEffect(() => {
    if (data) setTrail([...data.waiting.map(({ run }) => run), ...data.running, ...data.recent].map(({ runId }) => runId));
  }, [data]);

  const rows = () => [...(body.current?.querySelectorAll<HTMLElement>("[data-roving]") ?? [])];
  const move = (step: 1 | -1) => {
    const all = rows();
    const at = all.indexOf(document.activeElement as HTMLElement);
    all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + step))]?.focus();
  };
  useActions([
    { id: "next-row", title: t("home.actNext"), group: "view", keys: "J", alias: ["↓"], palette: false, run: () => move(1) },
    { id: "previous-row", title: t("home.actPrevious"), group: "view", keys: "K", alias: ["↑"], palette: false, run: () => move(-1) },
    { id: "open-row", title: t("home.actAnswer"), group: "view", keys: "Enter", palette: false, run: () => rows()[0]?.click() },
    { id: "new", title: t("home.actNew"), group: "do", keys: "N", icon: Plus, run: () => void addProject() },
  ]);

  return (
    <>
      <Bar title={t("home.title")}>
        {data && <Today today={data.today} />}
        {data && <span className="k-sep home-sep" />}
        <Button icon={Play} keys="R" onClick={() => openRunForm()}>
          {t("common.run")}
        </Button>
      </Bar>
      <div className="app-scroll">
        <div ref={body} className="home" onKeyDown={onKeyDown}>
          {error && <ErrorState error={error} onRetry={() => void refetch()} />}
          {data ? (
            <>
              <FirstSteps runs={data.total ?? data.recent.length} />
              <Waiting waiting={data.waiting} count={data.today.waiting} />
              <Running running={data.running} count={data.today.running} />
              <Recent recent={data.recent} />
            </>
          ) : (
            !error && <BoneRows rows={8} />
          )}
        </div>
      </div>
    </>
  );
}
