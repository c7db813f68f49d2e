// The head of a run: name, state, what can be done with it, its facts.
import { type RefObject, useState } from "react";
import {
  ArrowLeft,
  ChevronDown,
  ChevronRight,
  ChevronUp,
  Copy,
  Download,
  Ellipsis,
  GitCompareArrows,
  Link2,
  ListTree,
  PanelLeft,
  Pin,
  PinOff,
  Play,
  RotateCcw,
  Square,
  SquareTerminal,
  Trash2,
  Waypoints,
} from "lucide-react";
import type { ApiError, RunDetail } from "../../api/contract";
import { useAct } from "../../api/queries";
import { useActions } from "../../app/actions";
import { useNow } from "../../app/clock";
import { fromOf } from "../../app/clients";
import { openRunForm } from "../../app/overlays";
import { address, Link, navigate, projectAddress, runAddress } from "../../app/router";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import { Button, ButtonGroup, IconButton } from "../../kit/Button";
import { Tile } from "../../kit/Chip";
import { CopyIconButton } from "../../kit/Copy";
import { Icon } from "../../kit/Icon";
import { announce } from "../../kit/Live";
import { Menu, type MenuItem } from "../../kit/Menu";
import { Confirm } from "../../kit/Popover";
import { StatusPill } from "../../kit/StatusPill";
import { toast, toastError } from "../../kit/toast";
import { revealText } from "../../kit/text";
import { Tooltip } from "../../kit/Tooltip";
import { actionsOf, cancelWords, endedAt, hasEnded, tookMs } from "./facts";
import { type ListPane, useSiblings } from "./RunListPane";
import type { TabName } from "./types";
import { useSave } from "./useSave";

interface HeaderProps {
  detail: RunDetail;
  heading: RefObject<HTMLHeadingElement | null>;
  pane: ListPane;
  tab: TabName | undefined;
}

export function RunHeader({ detail, heading, pane, tab }: HeaderProps) {
  const { t, format } = useI18n();
  const host = useHost();
  const { run } = detail;
  const id = run.runId;
  const [pin, cancel, resume, start, remove, copyAs] = [
    useAct("pin_run"),
    useAct("cancel_run"),
    useAct("continue_run"),
    useAct("start_run"),
    useAct("delete_run"),
    useAct("copy_as"),
  ];
  const save = useSave();
  const [asking, setAsking] = useState<"cancel" | "delete" | null>(null);
  const [more, setMore] = useState<HTMLButtonElement | null>(null);
  const [cancelButton, setCancelButton] = useState<HTMLButtonElement | null>(null);
  const kind = actionsOf(detail);
  const siblings = useSiblings(id, run.project);
  const failed = (error: ApiError) => toastError(error, t);

  const setPinned = (pinned: boolean) =>
    pin.mutate(
      { run: id, pinned },
      {
        onSuccess: () => toast(t(pinned ? "run.pinned" : "run.unpinned"), { undo: () => pin.mutate({ run: id, pinned: !pinned }) }),
        onError: failed,
      },
    );
  const copy = (text: string, said: string) =>
    void host.copyText(text).then(() => {
      announce(said);
      toast(said);
    });
  const again = () => {
    if (start.isPending) return;
    start.mutate(
      { project: run.project, entrypoint: run.entrypointId, input: detail.input },
      { onSuccess: ({ run: next }) => navigate(runAddress(next)), onError: failed },
    );
  };
  const edit = () => openRunForm({ project: run.project, entrypoint: run.entrypointId, from: id });
  const compare = () => navigate(address(["compare"], { a: id }));
  const doCancel = () => cancel.mutate({ run: id }, { onSuccess: () => toast(t("run.cancelAsked")), onError: failed });
  const goOn = () => {
    if (!resume.isPending)
      resume.mutate(
        { run: id },
        {
          onSuccess: () => {
            toast(t("run.continues"));
            heading.current?.focus();
          },
          onError: failed,
        },
      );
  };
  const saveExport = () => save({ run: id, part: "run" }, `${id}.json`);
  const copyForm = (form: "command" | "mcp") =>
    copyAs.mutate({ run: id, form }, { onSuccess: ({ text }) => copy(text, t("common.copied")), onError: failed });
  const walk = (step: -1 | 1) => {
    const next = siblings.at(step);
    if (next) navigate(runAddress(next));
  };
  const canCompare = kind === "ended" || kind === "resumable";
  const live = kind === "live" || kind === "waiting";

  useActions([
    { id: "run.pin", title: t(run.pinned ? "common.unpin" : "common.pin"), group: "do", keys: "P", run: () => setPinned(!run.pinned) },
    { id: "run.copyId", title: t("common.copyRunId"), group: "do", keys: "Y", run: () => copy(id, t("run.idCopied")) },
    ...(live ? [{ id: "run.cancel", title: t("common.cancelRun"), group: "do" as const, keys: "Ctrl .", run: () => setAsking("cancel") }] : []),
    ...(canCompare ? [{ id: "run.compare", title: t("run.compareWith"), group: "do" as const, keys: "C", run: compare }] : []),
    ...(kind === "ended"
      ? [
          { id: "run.again", title: t("run.again"), group: "do" as const, keys: "Shift R", run: again },
          ...(tab === "logs" ? [] : [{ id: "run.edit", title: t("run.againEdited"), group: "do" as const, keys: "E", run: edit }]),
        ]
      : []),
    ...(kind === "resumable"
      ? [
          { id: "run.continue", title: t("run.continue"), group: "do" as const, keys: "Shift C", run: goOn },
          { id: "run.startOver", title: t("run.startOver"), group: "do" as const, keys: "Shift R", run: again },
        ]
      : []),
    { id: "run.export", title: t("common.export"), group: "do", keys: "Shift E", run: saveExport },
    { id: "run.list", title: t("run.listToggle"), group: "view", keys: "[", run: pane.toggle },
    { id: "run.previous", title: t("run.previous"), group: "view", keys: "Alt ↑", palette: false, run: () => walk(-1) },
    { id: "run.next", title: t("run.next"), group: "view", keys: "Alt ↓", palette: false, run: () => walk(1) },
  ]);

  const items: MenuItem[] = [
    { label: t(run.pinned ? "common.unpin" : "common.pin"), icon: run.pinned ? PinOff : Pin, keys: "P", onSelect: () => setPinned(!run.pinned) },
    { label: t("common.copyRunId"), icon: Copy, keys: "Y", onSelect: () => copy(id, t("run.idCopied")) },
    { label: t("run.copyLink"), icon: Link2, onSelect: () => copy(id, t("common.copied")) },
    "line",
    { label: t("common.export"), icon: Download, keys: "Shift E", onSelect: saveExport },
    { label: t("run.copyCommand"), icon: SquareTerminal, onSelect: () => copyForm("command") },
    { label: t("run.copyMcp"), icon: Waypoints, onSelect: () => copyForm("mcp") },
    ...(kind === "resumable" || live
      ? [
          {
            label: t("run.compareWith"),
            icon: GitCompareArrows,
            keys: "C",
            off: live,
            ...(live ? { hint: t("run.compareEndedOnly") } : {}),
            onSelect: compare,
          },
        ]
      : []),
    ...(detail.run.parent ? [{ label: t("run.openParent"), icon: ListTree, onSelect: () => navigate(runAddress(detail.run.parent ?? "")) }] : []),
    ...detail.children
      .slice(0, 8)
      .map((child): MenuItem => ({ label: t("run.openChild", { run: child }), icon: ListTree, onSelect: () => navigate(runAddress(child)) })),
    "line",
    {
      label: t("run.delete"),
      icon: Trash2,
      danger: true,
      off: live,
      ...(live ? { hint: t("run.deleteEndedOnly") } : {}),
      onSelect: () => setAsking("delete"),
    },
  ];

  return (
    <header className="run-head">
      <div className="run-bar">
        <span className="run-bar-back">
          <IconButton icon={ArrowLeft} label={t("run.back")} keys="Alt ←" size="small" onClick={() => history.back()} />
          {!pane.open && <IconButton icon={PanelLeft} label={t("run.listToggle")} keys="[" size="small" onClick={pane.toggle} />}
          <Link to={projectAddress(run.project)} className="run-crumb k-trunc">
            {revealText(run.projectTitle)}
          </Link>
          <Icon of={ChevronRight} size={13} className="run-crumb-sign" />
        </span>
        <h1 ref={heading} tabIndex={-1} className="k-h2 k-trunc run-title" title={revealText(run.entrypointTitle)}>
          {revealText(run.entrypointTitle)}
        </h1>
        <StatusPill status={run.status} />
        <span className="k-grow" />
        {siblings.index !== undefined && (
          <span className="run-bar-place">
            <span className="k-sub k-num">{t("run.place", { n: siblings.index + 1, of: siblings.total })}</span>
            <IconButton icon={ChevronUp} label={t("run.previous")} keys="Alt ↑" size="small" disabled={!siblings.at(-1)} onClick={() => walk(-1)} />
            <IconButton icon={ChevronDown} label={t("run.next")} keys="Alt ↓" size="small" disabled={!siblings.at(1)} onClick={() => walk(1)} />
            <span className="k-sep" />
          </span>
        )}
        {kind === "live" && (
          <Button icon={run.pinned ? PinOff : Pin} onClick={() => setPinned(!run.pinned)} className="run-soft">
            {t(run.pinned ? "common.unpin" : "common.pin")}
          </Button>
        )}
        {kind === "waiting" && (
          <IconButton
            icon={run.pinned ? PinOff : Pin}
            label={t(run.pinned ? "common.unpin" : "common.pin")}
            keys="P"
            onClick={() => setPinned(!run.pinned)}
          />
        )}
        {live && (
          <Button
            ref={setCancelButton}
            look={kind === "live" ? "danger" : "default"}
            {...(kind === "live" ? { icon: Square } : {})}
            onClick={() => setAsking("cancel")}
          >
            {t("common.cancelRun")}
          </Button>
        )}
        {kind === "ended" && (
          <>
            <Button icon={GitCompareArrows} keys="C" className="run-soft" onClick={compare}>
              {t("common.compare")}
            </Button>
            <ButtonGroup>
              <Button icon={RotateCcw} onClick={again}>
                {t("common.runAgain")}
              </Button>
              <Menu
                trigger={<Button aria-label={t("run.againMenu")} icon={ChevronDown} />}
                items={[
                  { label: t("run.againSame"), icon: RotateCcw, keys: "Shift R", onSelect: again },
                  { label: t("run.againEdited"), icon: Play, keys: "E", onSelect: edit },
                ]}
              />
            </ButtonGroup>
          </>
        )}
        {kind === "resumable" && (
          <>
            <Button look="primary" icon={Play} onClick={goOn} {...(detail.canContinue ? {} : { offBecause: t("run.cantContinue") })}>
              {t("run.continue")}
            </Button>
            <Tooltip text={t("run.startOverHint")}>
              <Button icon={RotateCcw} onClick={again}>
                {t("run.startOver")}
              </Button>
            </Tooltip>
          </>
        )}
        <Menu trigger={<IconButton ref={setMore} icon={Ellipsis} label={t("run.more")} bordered />} items={items} />
        <Confirm
          open={asking === "cancel"}
          onOpenChange={(open) => setAsking(open ? "cancel" : null)}
          anchor={cancelButton ?? more}
          title={t("run.cancelTitle")}
          text={t(kind === "waiting" ? "run.cancelWaitingText" : "run.cancelText")}
          confirm={t("common.cancelRun")}
          keep={t(kind === "waiting" ? "run.keepWaiting" : "common.keepRunning")}
          onConfirm={doCancel}
        />
        <Confirm
          open={asking === "delete"}
          onOpenChange={(open) => setAsking(open ? "delete" : null)}
          anchor={more}
          title={t("run.deleteTitle")}
          text={t("run.deleteText", { size: format.bytes(detail.bytes) })}
          confirm={t("run.delete")}
          keep={t("run.keepRun")}
          onConfirm={() =>
            remove.mutate(
              { run: id },
              {
                onSuccess: () => {
                  toast(t("run.deleted", { run: id }));
                  navigate("/runs", { replace: true });
                },
                onError: failed,
              },
            )
          }
        />
      </div>
      <RunFacts detail={detail} />
    </header>
  );
}

function RunFacts({ detail }: { detail: RunDetail }) {
  const { t, format } = useI18n();
  const { run } = detail;
  const live = !hasEnded(run.status);
  const tick = useNow(live ? 1000 : 60_000);
  const now = live ? tick : (endedAt(run) ?? tick);
  const took = tookMs(run, now);
  const waited = run.stages
    .filter((stage) => stage.status === "waiting_for_input")
    .reduce((sum, stage) => sum + Math.max(0, (stage.until ?? now) - stage.at), 0);
  const from = fromOf(run, t);
  const began = run.startedAt ?? run.createdAt;
  const isToday = new Date(began).toDateString() === new Date(tick).toDateString();
  const words =
    took === undefined
      ? undefined
      : run.status === "interrupted"
        ? t("run.tookVanished", { took: format.duration(took) })
        : live
          ? t("run.tookSoFar", { took: format.duration(took) })
          : waited > 1_000
            ? t("run.tookWaiting", { took: format.duration(took), waited: format.duration(waited) })
            : format.duration(took);
  return (
    <div className="run-facts">
      <span className="k-r run-fact-id">
        <span className="k-mono">{run.runId}</span>
        <CopyIconButton text={run.runId} label={t("common.copyRunId")} />
      </span>
      <span className="run-fact-project">
        <span className="run-fact-name">{t("run.project")}</span>
        <Link to={projectAddress(run.project)} className="run-fact-link">
          {run.projectTitle}
        </Link>
      </span>
      <span title={format.absolute(began)} className="k-num">
        <span className="run-fact-name">{t(run.startedAt ? "run.started" : "run.createdAt")}</span>
        {isToday ? t("run.todayAt", { time: format.timeSeconds(began) }) : `${format.shortDate(began)} ${format.timeSeconds(began)}`}
      </span>
      {words !== undefined && run.status !== "waiting_for_input" && (
        <span className="k-num run-fact-took">
          <span className="run-fact-name">{t("run.took")}</span>
          {words}
        </span>
      )}
      <span className="k-r run-fact-from">
        <span className="run-fact-name">{t("run.from")}</span>
        <Tile {...(from.letters === undefined ? {} : { letters: from.letters })} />
        {run.parent ? (
          <Link to={runAddress(run.parent)} className="k-mono run-fact-link">
            {run.parent}
          </Link>
        ) : (
          <span className="k-trunc">{[from.name, run.client ? detail.clientVersion : undefined].filter(Boolean).join(" ")}</span>
        )}
      </span>
      {run.status === "cancelled" && run.cancelReason && (
        <span className="k-break">
          <span className="run-fact-name">{t("run.cancelledBecause")}</span>
          {cancelWords(run.cancelReason, t)}
        </span>
      )}
    </div>
  );
}
