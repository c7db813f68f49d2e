// Folders dropped on the window become projects, unless something in front takes what is dropped (a file field).
import { FolderPlus } from "lucide-react";
import { useCallback, useEffect, useRef, useState } from "react";
import { useAct } from "../api/queries";
import { toApiError, useHost } from "../host";
import { useI18n } from "../i18n";
import { Icon } from "../kit/Icon";
import { revealText } from "../kit/text";
import { toast, toastError } from "../kit/toast";
import { navigate, projectAddress } from "./router";

/** Takes dropped paths, or answers false to leave them to what lies behind. */
type Taker = (paths: string[]) => boolean;

const takers: { take: Taker }[] = [];

/** While mounted, dropped files come here first. The last one mounted is asked first. */
export function useFileDrops(take: Taker): void {
  const latest = useRef(take);
  useEffect(() => {
    latest.current = take;
  });
  useEffect(() => {
    const own = { take: (paths: string[]) => latest.current(paths) };
    takers.push(own);
    return () => {
      takers.splice(takers.indexOf(own), 1);
    };
  }, []);
}

const nameOf = (path: string) => path.split(/[/\\]/).findLast(Boolean) ?? path;

/**
 * Adds a folder as a project and goes there; asks for the folder when none is given. A folder that is no project yet can be made one, or
 * another is chosen.
 */
export function useAddProject(): (path?: string) => Promise<void> {
  const host = useHost();
  const { t, rich } = useI18n();
  const { mutateAsync: addFolder } = useAct("project_add");
  const { mutateAsync: makeFolder } = useAct("project_make");
  return useCallback(
    async (given) => {
      const put = async (path: string, act: typeof addFolder | typeof makeFolder) => {
        const name = revealText(nameOf(path));
        try {
          const { projects, added } = await act({ path });
          const project = projects.find(({ key, servers }) => added.includes(key) || servers.some(({ id }) => added.includes(id)));
          toast(t("shell.added", { name }));
          if (project) navigate(projectAddress(project.key));
        } catch (thrown) {
          if (toApiError(thrown).code !== "no_project") {
            toastError(thrown, t, (why) => t("shell.addFailed", { name, why }));
            return;
          }
          toast(rich("shell.noProject", { name: <b>{name}</b> }), {
            kind: "error",
            actions: [
              { label: t("shell.makeProject"), run: () => void put(path, makeFolder) },
              { label: t("shell.chooseAnother"), run: () => void choose() },
            ],
          });
        }
      };
      const choose = async () => {
        const path = await host.pickFolder().catch(() => null);
        if (path) await put(path, addFolder);
      };
      await (given === undefined ? choose() : put(given, addFolder));
    },
    [host, addFolder, makeFolder, t, rich],
  );
}

const hasFiles = (event: DragEvent) => event.dataTransfer?.types.includes("Files") ?? false;

export function DropOverlay() {
  const host = useHost();
  const { t } = useI18n();
  const addProject = useAddProject();
  const [over, setOver] = useState(false);

  useEffect(
    () =>
      host.onDrop((paths) => {
        setOver(false);
        if (paths.length === 0) return;
        for (const { take } of takers.toReversed()) if (take(paths)) return;
        if (paths.length > 1) toast(t("shell.addManyFailed"), { kind: "error" });
        else void addProject(paths[0]);
      }),
    [host, addProject, t],
  );

  useEffect(() => host.onOver((isOver) => setOver(isOver && takers.length === 0)), [host]);

  // The page itself takes no files: without this a dropped file would replace the page.
  useEffect(() => {
    let depth = 0;
    const enter = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth++;
      setOver(takers.length === 0);
    };
    const leave = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      depth = Math.max(0, depth - 1);
      if (depth === 0) setOver(false);
    };
    const stop = (event: DragEvent) => {
      if (!hasFiles(event)) return;
      event.preventDefault();
      if (event.type === "drop") {
        depth = 0;
        setOver(false);
      }
    };
    window.addEventListener("dragenter", enter);
    window.addEventListener("dragleave", leave);
    window.addEventListener("dragover", stop);
    window.addEventListener("drop", stop);
    return () => {
      window.removeEventListener("dragenter", enter);
      window.removeEventListener("dragleave", leave);
      window.removeEventListener("dragover", stop);
      window.removeEventListener("drop", stop);
    };
  }, []);

  if (!over) return null;
  return (
    <div className="app-drop" role="status">
      <div className="app-drop-box">
        <Icon of={FolderPlus} size={24} />
        <b>{t("shell.dropTitle")}</b>
        <span className="k-sub">{t("shell.dropText")}</span>
      </div>
    </div>
  );
}
