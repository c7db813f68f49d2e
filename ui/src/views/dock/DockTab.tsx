import type { EntrypointRow, ProjectRow } from "../../api/contract";
export function DockTab(_: { project: ProjectRow; entrypoints: readonly EntrypointRow[]; onCheck: () => void }) { return null; }
