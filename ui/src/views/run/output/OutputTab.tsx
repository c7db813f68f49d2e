// What came out of a run: its value as a tree, the chosen part beside it, its files; or why there is none.
import { useMemo } from "react";
import { Info } from "lucide-react";
import { useData } from "../../../api/queries";
import { useParam } from "../../../app/router";
import { useI18n } from "../../../i18n";
import { CopyIconButton } from "../../../kit/Copy";
import { Icon } from "../../../kit/Icon";
import { JsonTree } from "../../../kit/JsonTree";
import { Empty, ErrorState } from "../../../kit/States";
import { isTable } from "../../../kit/table";
import { joinPath } from "../../../kit/tree";
import { hasEnded } from "../facts";
import { Bones } from "../parts";
import type { TabProps } from "../types";
import { useSave } from "../useSave";
import { ErrorPanel } from "./ErrorPanel";
import { Files } from "./Files";
import { InterruptedPanel } from "./InterruptedPanel";
import { pathSteps, pointerOf, readBeginning, valueAt } from "./path";
import { looksLikeMarkdown, ValueView } from "./ValueView";
import "./output.css";

const isBranch = (value: unknown): value is object => typeof value === "object" && value !== null && Object.keys(value).length > 0;

/** Bytes of a result that a client gets whole; of longer ones it gets a preview. */
const CLIENT_GETS = 32 * 1024;

export function OutputTab({ detail, nodes, go }: TabProps) {
  const { t } = useI18n();
  const { run } = detail;
  const ended = hasEnded(run.status);
  if (run.status === "interrupted" || (run.status === "cancelled" && detail.canContinue))
    return (
      <div className="run-scroll">
        <div className="run-column">
          <InterruptedPanel detail={detail} nodes={nodes} />
          <NoOutput detail={detail} />
          <Files detail={detail} />
        </div>
      </div>
    );
  if (run.status === "failed" || run.status === "timeout") {
    return (
      <div className="run-scroll">
        <div className="run-column run-column-wide">
          <ErrorPanel detail={detail} go={go} />
          {detail.outputBytes > 0 && <Value detail={detail} boxed />}
          <Files detail={detail} />
        </div>
      </div>
    );
  }
  if (!ended || (detail.outputBytes === 0 && run.status !== "success")) {
    return (
      <div className="run-scroll">
        <div className="run-column">
          <Empty title={t(ended ? "run.noOutputEnded" : "run.noOutputYet")} />
          <Files detail={detail} />
        </div>
      </div>
    );
  }
  return <Value detail={detail} />;
}

function NoOutput({ detail }: Pick<TabProps, "detail">) {
  const { t } = useI18n();
  return (
    <section>
      <div className="k-section-head">
        <h2 className="k-h2">{t("run.tab_output")}</h2>
      </div>
      <div className="k-panel ou-none k-dim">{t(detail.run.status === "interrupted" ? "run.noOutputYetEnd" : "run.noOutputEnded")}</div>
    </section>
  );
}

/** What is shown before anything was chosen: the first table, else the first long text, else the whole. */
export function firstShown(whole: unknown): string {
  if (typeof whole !== "object" || whole === null || Array.isArray(whole)) return "output";
  const entries = Object.entries(whole);
  const found = entries.find(([, value]) => isTable(value)) ?? entries.find(([, value]) => typeof value === "string" && value.length > 200);
  return found ? joinPath("output", found[0]) : "output";
}

function Value({ detail, boxed }: Pick<TabProps, "detail"> & { boxed?: boolean }) {
  const { t, format } = useI18n();
  const { run } = detail;
  const output = useData("run_output", { run: run.runId });
  const [chosen, setChosen] = useParam("value");
  // Of a very large output the host sends the beginning of its text; what is chosen in it is asked for by itself.
  const isCut = output.data?.truncated === true;
  const given = output.data?.output;
  const whole = useMemo(() => (isCut && typeof given === "string" ? (readBeginning(given) ?? given) : given), [isCut, given]);
  const path = chosen ?? firstShown(whole);
  const here = output.data === undefined ? undefined : valueAt(whole, path);
  const pointer = pointerOf(path);
  const isPart = isCut && path !== "output" && pointer !== undefined;
  const part = useData("run_output", { run: run.runId, path: pointer ?? "" }, { enabled: isPart, keepPrevious: true });
  const save = useSave();
  const saveValue = (place: string, shown: unknown) => {
    const name = pointerOf(place) ?? "";
    const last = pathSteps(place)?.at(-1);
    save(
      { run: run.runId, part: "output", ...(name ? { name } : {}) },
      `${run.runId}${last === undefined ? "" : ` ${last}`}.${typeof shown !== "string" ? "json" : looksLikeMarkdown(shown) ? "md" : "txt"}`,
    );
  };
  if (output.error)
    return (
      <div className="run-padded">
        <ErrorState error={output.error} onRetry={() => void output.refetch()} />
      </div>
    );
  if (output.data === undefined) return <Bones lines={10} />;
  const value = isPart ? part.data?.output : here?.found ? here.value : whole;
  const shownPath = here?.found || isPart ? path : "output";
  const gotPreview = run.origin === "mcp" && output.data.bytes > CLIENT_GETS;
  const note = gotPreview && (
    <div className="k-note ou-note">
      <Icon of={Info} size={15} />
      <div className="k-col">
        <span>{t("run.previewOnly")}</span>
        <span className="k-sub">{t("run.previewOnlyWhy", { size: format.bytes(output.data.bytes), limit: format.bytes(CLIENT_GETS) })}</span>
      </div>
    </div>
  );
  if (!isBranch(whole)) {
    const isNothing = whole === null || whole === undefined;
    return (
      <div className={boxed ? "ou-boxed" : "run-scroll"}>
        <div className="ou-single">
          {isNothing ? <Empty title={t("run.outputNull")} /> : <ValueView path="output" value={whole} onSave={() => saveValue("output", whole)} />}
          <div className="ou-below">
            {isCut && (
              <div className="k-note ou-note">
                <Icon of={Info} size={15} />
                <span className="k-mid">{t("run.outputBeginning", { size: format.bytes(output.data.bytes) })}</span>
              </div>
            )}
            {!boxed && <Files detail={detail} />}
            {note}
          </div>
        </div>
      </div>
    );
  }
  return (
    <div className={boxed ? "ou ou-boxed" : "ou"}>
      <div className="ou-tree">
        <JsonTree
          value={whole}
          root="output"
          selected={shownPath}
          label={t("run.tab_output")}
          onSelect={(next) => {
            setChosen(next);
          }}
          tools={<CopyIconButton size="medium" text={() => JSON.stringify(whole, null, 2)} label={t("run.copyOutput")} />}
        />
      </div>
      <div className="ou-side">
        {isPart && part.error ? (
          <div className="run-padded">
            <ErrorState error={part.error} onRetry={() => void part.refetch()} />
          </div>
        ) : isPart && part.data === undefined ? (
          <Bones lines={8} />
        ) : (
          <ValueView path={shownPath} value={value} onSave={() => saveValue(shownPath, value)} />
        )}
        <div className="ou-below">
          {output.data.truncated && (
            <div className="k-note ou-note">
              <Icon of={Info} size={15} />
              <span className="k-mid">{t("run.outputBeginning", { size: format.bytes(output.data.bytes) })}</span>
            </div>
          )}
          {!boxed && <Files detail={detail} />}
          {note}
        </div>
      </div>
    </div>
  );
}
