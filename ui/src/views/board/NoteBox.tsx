// A note on a card. What is typed is kept per card until it is sent, also over a closed window.
import { useState } from "react";
import type { BoardCard, BoardView } from "../../api/contract";
import { useI18n } from "../../i18n";
import { Button, dropDraft, loadDraft, saveDraft, TextField, toast, toastError } from "../../kit";
import type { BoardWriter } from "./useBoard";

interface NoteBoxProps {
  project: string;
  card: BoardCard;
  view: BoardView;
  writer: BoardWriter;
}

/** Give it a `key` per card. */
export function NoteBox({ project, card, view, writer }: NoteBoxProps) {
  const { t } = useI18n();
  const key = `board-note:${project}:${card.id}`;
  const [text, setText] = useState(() => {
    const kept = loadDraft(key)?.text;
    return typeof kept === "string" ? kept : "";
  });
  const [busy, setBusy] = useState(false);
  const type = (next: string) => {
    setText(next);
    if (next === "") dropDraft(key);
    else saveDraft(key, [], { text: next });
  };
  const send = async () => {
    if (busy || text.trim() === "") return;
    setBusy(true);
    try {
      await writer.call("project_card_note", { id: card.id, text: text.trim(), actor: view.actor });
      type("");
      toast(t("board.noteAdded", { id: card.id }));
    } catch (thrown) {
      toastError(thrown, t);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <TextField
        small
        label={t("board.addNote")}
        placeholder={t("board.addNote")}
        value={text}
        onChange={type}
        locked={busy || view.readOnly}
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
          event.preventDefault();
          void send();
        }}
      />
      {text.trim() !== "" && <Button onClick={() => void send()}>{t("board.sendNote")}</Button>}
    </>
  );
}
