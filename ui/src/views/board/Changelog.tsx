// The unreleased changes, as the next release would read.
import { ScrollText } from "lucide-react";
import { useI18n } from "../../i18n";
import { BoneRows, CopyButton, Empty, ErrorState, Markdown } from "../../kit";
import { useBoardRead } from "./useBoard";

export function Changelog({ project, mark }: { project: string; mark: string }) {
  const { t } = useI18n();
  const { data, error, refetch } = useBoardRead<{ fragments?: unknown[]; markdown: string }>(project, "project_changelog_preview", {}, mark);
  if (data && (data.fragments?.length === 0 || data.markdown.trim() === ""))
    return <Empty icon={ScrollText} title={t("board.changelogNone")} text={t("board.changelogNoneText")} />;
  return (
    <div className="bd-part">
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : data ? (
        <>
          <div className="bd-part-head">
            <h2 className="k-h3">{t("board.changelogPreview")}</h2>
            {data.fragments && <span className="k-sub k-num">{t("board.fragments", { count: data.fragments.length })}</span>}
            <span className="k-grow" />
            <CopyButton text={data.markdown} label={t("board.copyMarkdown")} />
          </div>
          <div className="k-panel bd-paper">
            <Markdown text={data.markdown} />
          </div>
        </>
      ) : (
        <BoneRows rows={5} />
      )}
    </div>
  );
}
