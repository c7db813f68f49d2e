// Files a run created: looked at here as far as they are text or pictures, otherwise shown in their folder.
import { useState } from "react";
import { Download, Eye, File, FileArchive, FileBraces, FileImage, FileText, FolderOpen, X } from "lucide-react";
import type { RunDetail } from "../../../api/contract";
import { useData } from "../../../api/queries";
import { useHost } from "../../../host";
import { useI18n } from "../../../i18n";
import { IconButton } from "../../../kit/Button";
import { DataTable } from "../../../kit/DataTable";
import { Icon } from "../../../kit/Icon";
import { JsonTree } from "../../../kit/JsonTree";
import { Markdown } from "../../../kit/Markdown";
import { Reveal } from "../../../kit/Reveal";
import { Some } from "../../../kit/Some";
import { ErrorState } from "../../../kit/States";
import { isTable } from "../../../kit/table";
import { toastError } from "../../../kit/toast";
import { Bones } from "../parts";
import { useSave } from "../useSave";
import { kindOfFile, parseCsv } from "./files";

const ICONS = {
  markdown: FileText,
  text: FileText,
  json: FileBraces,
  table: FileText,
  image: FileImage,
  archive: FileArchive,
  pdf: FileText,
  other: File,
} as const;

export function Files({ detail }: { detail: RunDetail }) {
  const { t, format } = useI18n();
  const host = useHost();
  const save = useSave();
  const [open, setOpen] = useState<string | null>(null);
  const { files } = detail;
  if (files.length === 0) return null;
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  return (
    <section className="ou-files">
      <div className="k-section-head">
        <h2 className="k-h3">{t("run.filesHead")}</h2>
        <span className="k-sub k-num">{t("run.filesSum", { count: files.length, size: format.bytes(total) })}</span>
      </div>
      <Some items={files}>
        {(shown) => (
          <ul className="k-panel k-rows">
            {shown.map((file) => {
              const kind = kindOfFile(file.name);
              const isOpen = open === file.name;
              return (
                <li key={file.path}>
                  <div className="ou-file">
                    <span className="k-dim">
                      <Icon of={ICONS[kind]} />
                    </span>
                    <button
                      type="button"
                      className="k-med k-trunc k-grow ou-file-name"
                      title={file.path}
                      aria-expanded={isOpen}
                      onClick={() => setOpen(isOpen ? null : file.name)}
                    >
                      <Reveal text={file.name} limit={200} />
                    </button>
                    <span className="k-sub ou-file-kind">{t(`run.file_${kind}`)}</span>
                    <span className="k-sm k-num k-mid ou-file-size">{format.bytes(file.bytes)}</span>
                    <IconButton
                      icon={isOpen ? X : Eye}
                      label={t(isOpen ? "run.filePreviewClose" : "run.filePreview")}
                      size="small"
                      onClick={() => setOpen(isOpen ? null : file.name)}
                    />
                    <IconButton
                      icon={Download}
                      label={t("run.saveFile")}
                      size="small"
                      onClick={() => save({ run: detail.run.runId, part: "file", name: file.name }, file.name)}
                    />
                    <IconButton
                      icon={FolderOpen}
                      label={t("run.showInFolder")}
                      size="small"
                      onClick={() => void host.reveal(file.path).catch((thrown: unknown) => toastError(thrown, t))}
                    />
                  </div>
                  {isOpen && <Preview run={detail.run.runId} name={file.name} />}
                </li>
              );
            })}
          </ul>
        )}
      </Some>
    </section>
  );
}

function Preview({ run, name }: { run: string; name: string }) {
  const { t } = useI18n();
  const file = useData("run_file", { run, name });
  if (file.error)
    return (
      <div className="ou-preview">
        <ErrorState error={file.error} onRetry={() => void file.refetch()} />
      </div>
    );
  if (!file.data)
    return (
      <div className="ou-preview">
        <Bones lines={3} />
      </div>
    );
  const { kind, truncated } = file.data;
  const [text, base64, mime] = [file.data.text ?? undefined, file.data.base64 ?? undefined, file.data.mime ?? undefined];
  const what = kindOfFile(name);
  const tableRows =
    what === "table" && text !== undefined && !truncated ? parseCsv(text, name.toLowerCase().endsWith(".tsv") ? "\t" : ",") : undefined;
  const json = what === "json" && text !== undefined && !truncated ? parsed(text) : undefined;
  // Only pictures of known kinds; SVG may hold script and stays text.
  const isImage = kind === "image" && base64 !== undefined && /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/.test(mime ?? "");
  return (
    <div className="ou-preview">
      {isImage ? (
        <img src={`data:${mime};base64,${base64}`} alt={name} />
      ) : tableRows ? (
        <DataTable rows={tableRows} label={name} />
      ) : json !== undefined ? (
        isTable(json) ? (
          <DataTable rows={json} label={name} />
        ) : (
          <div className="ou-preview-tree">
            <JsonTree value={json} root={name} plain label={name} />
          </div>
        )
      ) : what === "markdown" && text !== undefined ? (
        <Markdown text={text} />
      ) : text !== undefined ? (
        <pre className="k-code">
          <Reveal text={text} limit={200_000} />
        </pre>
      ) : (
        <p className="k-sub">{t("run.noPreview")}</p>
      )}
      {truncated && <p className="k-sub">{t("run.previewCut")}</p>}
    </div>
  );
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
