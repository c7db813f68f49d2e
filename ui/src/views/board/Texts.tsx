// What the board keeps as texts, documents or what is remembered: a list, and one of them as text.
import { useState } from "react";
import { ArrowLeft, Brain, FileText, FolderOpen } from "lucide-react";
import { setParams, useParam } from "../../app/router";
import { useHost } from "../../host";
import { useI18n } from "../../i18n";
import { BoneRows, Button, Empty, ErrorState, Icon, IconButton, Markdown, revealText, SearchField, Some, Tag, toastError } from "../../kit";
import { useBoardRead } from "./useBoard";

interface DocumentRow {
  id: string;
  title: string;
  path: string;
  status?: string;
  documentKind?: string;
  collection?: string;
  updated?: string;
}

interface PartProps {
  project: string;
  folder: string;
  mark: string;
}

/** What differs between the two. */
const KINDS = {
  documents: {
    tool: "project_doc_list",
    icon: FileText,
    none: "board.documentsNone",
    noneText: "board.documentsNoneText",
    find: "board.findDocument",
    back: "board.back",
  },
  memory: {
    tool: "project_memory_list",
    icon: Brain,
    none: "board.memoryNone",
    noneText: "board.memoryNoneText",
    find: "board.findMemory",
    back: "board.backMemory",
  },
} as const;
export type TextKind = keyof typeof KINDS;

const COLLECTIONS = ["learnings", "decisions", "incidents", "conventions", "context"] as const;

/** The kind of a document in its own word, a collection in ours. */
function useKindWord(): (row: DocumentRow) => string | undefined {
  const { t } = useI18n();
  return (row) => {
    const known = COLLECTIONS.find((name) => name === row.collection);
    return known ? t(`board.collection_${known}`) : (row.collection ?? row.documentKind);
  };
}

/** The most that one call lists. */
const LIMIT = 200;

function useReveal(folder: string): (path: string) => void {
  const host = useHost();
  const { t } = useI18n();
  return (path) =>
    void host
      .reveal(/^(?:[/\\]|[A-Za-z]:)/.test(path) ? path : `${folder.replace(/[/\\]+$/, "")}/${path}`)
      .catch((thrown: unknown) => toastError(thrown, t));
}

function Page({ project, folder, mark, id, kind }: PartProps & { id: string; kind: TextKind }) {
  const { t } = useI18n();
  const kindWord = useKindWord();
  const reveal = useReveal(folder);
  const { data, error, refetch } = useBoardRead<{ record: DocumentRow & { body?: string } }>(project, "project_get_record", { id }, mark);
  const record = data?.record;
  return (
    <div className="bd-part">
      <div className="bd-part-head">
        <Button size="small" look="quiet" icon={ArrowLeft} onClick={() => setParams({ doc: null })}>
          {t(KINDS[kind].back)}
        </Button>
        <span className="k-grow" />
        {record?.path && (
          <Button size="small" icon={FolderOpen} onClick={() => reveal(record.path)}>
            {t("board.documentShow")}
          </Button>
        )}
      </div>
      {error ? (
        <ErrorState error={error} onRetry={() => void refetch()} />
      ) : record ? (
        <article className="bd-document">
          <h2 className="k-h1 k-break" dir="auto">
            {revealText(record.title ?? id)}
          </h2>
          <p className="k-sub k-break">{revealText([record.id, kindWord(record), record.status, record.path].filter(Boolean).join(" · "))}</p>
          <Markdown text={record.body ?? ""} />
        </article>
      ) : (
        <BoneRows rows={5} />
      )}
    </div>
  );
}

export function Texts({ project, folder, mark, kind }: PartProps & { kind: TextKind }) {
  const { t, format } = useI18n();
  const kindWord = useKindWord();
  const what = KINDS[kind];
  const reveal = useReveal(folder);
  const [open] = useParam("doc");
  const [text, setText] = useState("");
  const { data, error, refetch } = useBoardRead<{ records: DocumentRow[]; total: number }>(project, what.tool, { limit: LIMIT }, mark, open === null);
  if (open !== null) return <Page project={project} folder={folder} mark={mark} id={open} kind={kind} />;
  if (error) {
    return (
      <div className="bd-part">
        <ErrorState error={error} onRetry={() => void refetch()} />
      </div>
    );
  }
  if (!data) {
    return (
      <div className="bd-part">
        <BoneRows rows={6} />
      </div>
    );
  }
  if (data.records.length === 0) return <Empty icon={what.icon} title={t(what.none)} text={t(what.noneText)} />;
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = data.records.filter((row) =>
    words.every((word) => `${row.id} ${row.title} ${row.path} ${kindWord(row) ?? ""} ${row.status ?? ""}`.toLowerCase().includes(word)),
  );
  return (
    <div className="bd-part">
      <div className="bd-part-head">
        <span className="bd-search">
          <SearchField value={text} onChange={setText} label={t(what.find)} />
        </span>
        {data.total > data.records.length && (
          <span className="k-sub">{t("board.documentsCut", { count: data.records.length, all: data.total })}</span>
        )}
      </div>
      {rows.length === 0 ? (
        <Empty inline title={t("kit.noMatch")} />
      ) : (
        <Some items={rows}>
          {(shown) => (
            <ul className="k-panel k-rows">
              {shown.map((row) => (
                <li key={`${row.id} ${row.path}`} className="bd-doc">
                  <button type="button" className="bd-doc-open" onClick={() => setParams({ doc: row.id }, { replace: false })}>
                    <Icon of={what.icon} size={15} className="k-dim" />
                    <span className="k-col k-grow">
                      <span className="k-med k-break" dir="auto">
                        {revealText(row.title)}
                      </span>
                      <span className="k-sub k-mono k-break">{revealText(row.path)}</span>
                    </span>
                    <span className="bd-doc-facts">
                      {kindWord(row) && <span className="k-sub">{revealText(kindWord(row) ?? "")}</span>}
                      {row.status && <Tag tone={row.status === "stale" ? "wait" : "idle"}>{revealText(row.status)}</Tag>}
                      {row.updated && !Number.isNaN(Date.parse(row.updated)) && (
                        <span className="k-sub k-num">{format.shortDate(Date.parse(row.updated))}</span>
                      )}
                    </span>
                  </button>
                  <IconButton icon={FolderOpen} label={t("board.documentShow")} size="small" onClick={() => reveal(row.path)} />
                </li>
              ))}
            </ul>
          )}
        </Some>
      )}
    </div>
  );
}
