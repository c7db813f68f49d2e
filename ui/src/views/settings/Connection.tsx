// The saved connection: server and key, as one pair. "works" is what the backend found by writing, reading and deleting a probe.
import { useState } from "react";
import { useQueryClient } from "@tanstack/react-query";
import type { ConnectionStatus } from "../../api/contract";
import { useAct, useData } from "../../api/queries";
import { useI18n } from "../../i18n";
import {
  Button,
  Confirm,
  ErrorState,
  Glyph,
  Reveal,
  revealText,
  SecretField,
  Segmented,
  TextField,
  toast,
  toastError,
  type GlyphName,
} from "../../kit";
import { Section, Setting } from "./parts";

const GLYPHS: Record<ConnectionStatus["state"], GlyphName> = {
  works: "success",
  locked: "notice",
  no_service: "notice",
  signed_out: "todo",
  failed: "failed",
};

/** What is wrong with an address; undefined: nothing. */
export function urlFault(text: string): "empty" | "form" | "scheme" | undefined {
  if (text.trim() === "") return "empty";
  try {
    const url = new URL(text.trim());
    const local = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
    return url.protocol === "https:" || (url.protocol === "http:" && local) ? undefined : "scheme";
  } catch {
    return "form";
  }
}

function SignIn({ canKeyring, onDone }: { canKeyring: boolean; onDone: (status: ConnectionStatus) => void }) {
  const { t } = useI18n();
  const login = useAct("connection_login");
  const [url, setUrl] = useState("");
  const [key, setKey] = useState("");
  const [store, setStore] = useState<"keyring" | "file">(canKeyring ? "keyring" : "file");
  const [checked, setChecked] = useState(false);
  const fault = urlFault(url);
  const submit = () => {
    setChecked(true);
    if (fault || key === "") return;
    login.mutate(
      { url: url.trim(), key, store },
      {
        onSuccess: (status) => {
          setKey("");
          onDone(status);
        },
        onError: (error) => toastError(error, t, (why) => t("settings.notSignedIn", { why })),
      },
    );
  };
  return (
    <form
      className="st-row st-row-tall st-signin"
      data-setting
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <div className="k-field">
        <label className="k-field-title" htmlFor="st-url">
          {t("settings.server")}
        </label>
        <TextField
          id="st-url"
          mono
          inputMode="url"
          placeholder="https://flows.example.org"
          value={url}
          onChange={setUrl}
          onBlur={() => url !== "" && setChecked(true)}
          invalid={checked && fault !== undefined}
          describedBy="st-url-hint"
        />
        <span className={checked && fault ? "k-field-fault" : "k-field-hint"} id="st-url-hint">
          {checked && fault ? t(`settings.url_${fault}`) : t("settings.serverHint")}
        </span>
      </div>
      <div className="k-field">
        <label className="k-field-title" htmlFor="st-key">
          {t("settings.key")}
        </label>
        <SecretField id="st-key" value={key} onChange={setKey} invalid={checked && key === ""} describedBy="st-key-hint" />
        <span className={checked && key === "" ? "k-field-fault" : "k-field-hint"} id="st-key-hint">
          {checked && key === "" ? t("kit.faultRequired") : t("settings.keyHint")}
        </span>
      </div>
      <div className="k-r k-wrap">
        <span className="k-sub" id="st-store">
          {t("settings.keepKeyIn")}
        </span>
        <Segmented
          labelledBy="st-store"
          value={store}
          items={[
            { value: "keyring" as const, label: t("settings.keyring") },
            { value: "file" as const, label: t("settings.keyFile") },
          ]}
          onChange={setStore}
        />
        <span className="k-grow" />
        <Button look="primary" submit aria-busy={login.isPending} disabled={login.isPending}>
          {login.isPending ? t("settings.signingIn") : t("settings.signIn")}
        </Button>
      </div>
    </form>
  );
}

export function ConnectionSection() {
  const { t } = useI18n();
  const queries = useQueryClient();
  const connection = useData("connection", {});
  const logout = useAct("connection_logout");
  const status = connection.data;
  const put = (next: ConnectionStatus) => queries.setQueryData(["connection", {}], next);

  const host = (url: string | undefined) => {
    try {
      return url ? new URL(url).host : "";
    } catch {
      return url ?? "";
    }
  };
  const title = (now: ConnectionStatus) =>
    now.state === "works" ? t("settings.signedInTo", { host: revealText(host(now.url)) }) : t(`settings.connection_${now.state}`);
  return (
    <Section id="connection" title={t("settings.connection")}>
      {connection.error && !status ? (
        <div className="st-row">
          <ErrorState error={connection.error} onRetry={() => void connection.refetch()} />
        </div>
      ) : (
        status && (
          <Setting
            id="st-connection"
            title={
              <span className="k-r">
                <Glyph name={GLYPHS[status.state]} label="" />
                <span className="k-break">{title(status)}</span>
              </span>
            }
            hint={
              <>
                {status.state === "works" || status.source !== "none" ? t(`settings.source_${status.source}`) : t("settings.connectionFor")}
                {status.message && status.state !== "works" && (
                  <>
                    {" "}
                    <Reveal text={status.message} limit={300} />
                  </>
                )}
              </>
            }
          >
            {status.state !== "signed_out" && (
              <Button onClick={() => void connection.refetch()} disabled={connection.isFetching}>
                {connection.isFetching ? t("settings.checking") : t("settings.check")}
              </Button>
            )}
            {(status.source === "keyring" || status.source === "file") && (
              <Confirm
                trigger={<Button look="quiet">{t("settings.signOut")}</Button>}
                title={t("settings.signOutTitle", { host: revealText(host(status.url)) })}
                text={t("settings.signOutText")}
                confirm={t("settings.signOut")}
                keep={t("settings.staySignedIn")}
                onConfirm={() =>
                  logout.mutate(
                    {},
                    {
                      onSuccess: (next) => {
                        put(next);
                        toast(t("settings.signedOut"));
                      },
                      onError: (error) => toastError(error, t),
                    },
                  )
                }
              />
            )}
          </Setting>
        )
      )}
      {status && status.source === "none" && (
        <SignIn
          canKeyring={status.state !== "no_service"}
          onDone={(next) => {
            put(next);
            if (next.state === "works") toast(t("settings.signedInTo", { host: revealText(host(next.url)) }));
          }}
        />
      )}
    </Section>
  );
}
