// Related projects: two that confirm each other. Says which side is missing.
import { useState } from "react";
import { Link2, Link2Off, Plus, X } from "lucide-react";
import type { ApiError, RelationRow } from "../../api/contract";
import { useAct, useData } from "../../api/queries";
import { Link, projectAddress } from "../../app/router";
import { useI18n } from "../../i18n";
import { Button, Confirm, Glyph, Icon, IconButton, Popover, revealText, SelectField, TextField, toastError } from "../../kit";

interface RelationsProps {
  project: string;
  title: string;
  relations: readonly RelationRow[];
}

function Row({ project, relation }: { project: string; relation: RelationRow }) {
  const { t } = useI18n();
  const relate = useAct("relate");
  const unrelate = useAct("unrelate");
  const both = relation.here && relation.there;
  const name = revealText(relation.otherTitle ?? relation.path ?? relation.other ?? t("project.notRegistered"));
  const state = both
    ? t("project.bothSides")
    : relation.here
      ? t("project.waitsForOther")
      : relation.there
        ? t("project.waitsForThis")
        : t("project.noSide");
  const fail = (error: ApiError) => toastError(error, t);
  return (
    <li className="pj-relation">
      <Icon of={both ? Link2 : Link2Off} size={16} className="k-dim" />
      <span className="k-col k-grow">
        <span className="k-r k-wrap pj-relation-name">
          <span className="k-mono k-break">{revealText(relation.alias)}</span>
          {relation.other ? (
            <Link to={projectAddress(relation.other)} className="k-mid k-break">
              {name}
            </Link>
          ) : (
            <span className="k-mid k-break">{name}</span>
          )}
        </span>
        {!both && <span className="k-sub">{state}</span>}
      </span>
      {both && (
        <span className="k-sm k-mid k-r pj-relation-state">
          <Glyph name="success" size={14} label="" />
          {state}
        </span>
      )}
      {!both && !relation.here && relation.other && (
        <Button
          size="small"
          disabled={relate.isPending}
          onClick={() => relate.mutate({ project, alias: relation.alias, other: relation.other! }, { onError: fail })}
        >
          {t("project.confirmHere")}
        </Button>
      )}
      {!both && relation.here && relation.other && (
        <Button
          size="small"
          disabled={relate.isPending}
          onClick={() => relate.mutate({ project: relation.other!, alias: relation.alias, other: project }, { onError: fail })}
        >
          {t("project.confirmThere")}
        </Button>
      )}
      {relation.here && (
        <Confirm
          trigger={<IconButton icon={X} label={t("project.unrelate", { name: revealText(relation.alias) })} size="small" iconSize={14} />}
          title={t("project.unrelateTitle", { name })}
          text={t("project.unrelateText")}
          confirm={t("project.unrelateDo")}
          keep={t("project.keep")}
          onConfirm={() => unrelate.mutate({ project, alias: relation.alias }, { onError: fail })}
        />
      )}
    </li>
  );
}

/** Names another project and the alias under which this one calls it. */
function RelateForm({ project, relations, onDone }: { project: string; relations: readonly RelationRow[]; onDone: () => void }) {
  const { t } = useI18n();
  const projects = useData("projects", {}).data ?? [];
  const relate = useAct("relate");
  const [other, setOther] = useState<string>();
  const [alias, setAlias] = useState("");
  const others = projects.filter((one) => one.key !== project);
  const taken = relations.some((relation) => relation.here && relation.alias === alias);
  const valid = /^[A-Za-z0-9_-]{1,64}$/.test(alias) && !taken;
  return (
    <form
      className="pj-relate"
      onSubmit={(event) => {
        event.preventDefault();
        if (!other || !valid) return;
        relate.mutate({ project, alias, other }, { onSuccess: onDone, onError: (error) => toastError(error, t) });
      }}
    >
      <SelectField
        label={t("project.otherProject")}
        placeholder={t("project.otherProject")}
        value={other}
        options={others.map((one) => ({ value: one.key, label: one.title, description: one.path }))}
        onChange={(next) => {
          setOther(next);
          const title = others.find((one) => one.key === next)?.title ?? "";
          if (alias === "")
            setAlias(
              title
                .toLowerCase()
                .replaceAll(/[^a-z0-9]+/g, "-")
                .replaceAll(/^-|-$/g, "")
                .slice(0, 32),
            );
        }}
      />
      <span className="k-col pj-alias">
        <label className="k-field-title" htmlFor="pj-alias">
          {t("project.alias")}
        </label>
        <TextField id="pj-alias" mono value={alias} onChange={setAlias} invalid={alias !== "" && !valid} describedBy="pj-alias-hint" />
        <span className={alias !== "" && !valid ? "k-field-fault" : "k-field-hint"} id="pj-alias-hint">
          {taken ? t("project.aliasTaken") : t("project.aliasHint")}
        </span>
      </span>
      <div className="k-popover-buttons">
        <Button onClick={onDone}>{t("common.cancel")}</Button>
        <Button look="primary" submit disabled={!other || !valid || relate.isPending}>
          {t("project.relateDo")}
        </Button>
      </div>
    </form>
  );
}

export function Relations({ project, title, relations }: RelationsProps) {
  const { t } = useI18n();
  const [open, setOpen] = useState(false);
  return (
    <section aria-labelledby="pj-relations">
      <div className="k-section-head">
        <h2 className="k-h2" id="pj-relations">
          {t("project.relations")}
        </h2>
        <span className="k-grow" />
        <Popover
          open={open}
          onOpenChange={setOpen}
          trigger={<IconButton icon={Plus} label={t("project.relate")} size="small" />}
          title={t("project.relateTitle", { name: revealText(title) })}
        >
          {(close) => <RelateForm project={project} relations={relations} onDone={close} />}
        </Popover>
      </div>
      {relations.length === 0 ? (
        <p className="k-sub">{t("project.noRelations")}</p>
      ) : (
        <ul className="k-panel k-rows k-clip">
          {relations.map((relation) => (
            <Row key={relation.alias} project={project} relation={relation} />
          ))}
        </ul>
      )}
    </section>
  );
}
