// Copying: the button reads "Copied" for 2 s and a live region says it.
import { useEffect, useRef, useState } from "react";
import { Check, Copy as CopyIcon } from "lucide-react";
import { useHost } from "../host";
import { useI18n } from "../i18n";
import { Button, IconButton } from "./Button";
import { announce } from "./Live";
import { toastError } from "./toast";

/** Copies and remembers for 2 s that it did. */
export function useCopy(): { copied: boolean; copy: (text: string) => void } {
  const host = useHost();
  const { t } = useI18n();
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = (text: string) => {
    host.copyText(text).then(
      () => {
        setCopied(true);
        announce(t("common.copied"));
        clearTimeout(timer.current);
        timer.current = setTimeout(() => setCopied(false), 2000);
      },
      (thrown: unknown) => toastError(thrown, t, (why) => t("kit.notCopied", { why })),
    );
  };
  return { copied, copy };
}

export interface CopyButtonProps {
  /** The very text; or a function for what is costly to make. */
  text: string | (() => string);
  label?: string;
  size?: "small" | "medium";
  keys?: string;
}

export function CopyButton({ text, label, size = "small", keys }: CopyButtonProps) {
  const { t } = useI18n();
  const { copied, copy } = useCopy();
  return (
    <Button size={size} icon={copied ? Check : CopyIcon} keys={keys} onClick={() => copy(typeof text === "string" ? text : text())}>
      {copied ? t("common.copied") : (label ?? t("common.copy"))}
    </Button>
  );
}

export function CopyIconButton({ text, label, size = "small", className }: CopyButtonProps & { label: string; className?: string }) {
  const { t } = useI18n();
  const { copied, copy } = useCopy();
  return (
    <IconButton
      icon={copied ? Check : CopyIcon}
      label={copied ? t("common.copied") : label}
      size={size}
      iconSize={14}
      className={className}
      onClick={(event) => {
        event.stopPropagation();
        copy(typeof text === "string" ? text : text());
      }}
    />
  );
}
