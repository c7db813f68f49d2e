// Every control of the kit on one page, for development and for the tests that look at all of them at once. Not part of a shipped page, so its
// own words are not in the catalogues.
import { useState } from "react";
import { ArrowRight, Ellipsis, GitCompareArrows, Square } from "lucide-react";
import type { Param, RunStatus, Stage } from "../api/contract";
import { useI18n } from "../i18n";
import {
  BoneRows,
  Button,
  ButtonGroup,
  Checkbox,
  Chip,
  Confirm,
  CopyButton,
  DataTable,
  DiffLines,
  Empty,
  ErrorState,
  Glyph,
  IconButton,
  JsonTree,
  Kbd,
  Lifeline,
  Markdown,
  Menu,
  NumberField,
  ParamFields,
  RadioList,
  Segmented,
  StatusPill,
  Switch,
  Tabs,
  Tag,
  TextField,
  Tile,
  toast,
  useParamForm,
  type GlyphName,
} from ".";

const MINUTE = 60_000;
const stages = (...parts: [RunStatus, number][]): Stage[] => {
  let at = 0;
  return parts.map(([status, ms]) => ({ status, at, until: (at += ms) }));
};
const RUNS: [RunStatus, Stage[]][] = [
  ["queued", stages(["queued", MINUTE])],
  ["running", stages(["queued", 4000], ["running", 3 * MINUTE])],
  ["waiting_for_input", stages(["running", MINUTE], ["waiting_for_input", 2 * MINUTE])],
  ["success", stages(["queued", 8000], ["running", 3 * MINUTE], ["waiting_for_input", 4 * MINUTE], ["running", MINUTE])],
  ["failed", stages(["running", 4 * MINUTE])],
  ["timeout", stages(["running", 30 * MINUTE])],
  ["cancelled", stages(["running", 6000])],
  ["interrupted", stages(["running", 2 * MINUTE])],
];
const OTHERS: GlyphName[] = ["todo", "skipped", "overridden", "notice", "claim_live", "claim_held", "claim_stale", "claim_orphaned"];

/** One field of every type. */
export const ALL_FIELDS: Param[] = [
  { name: "week", type: "date", required: true, title: "Week", description: "Any day of it" },
  {
    name: "audience",
    type: "select",
    title: "Audience",
    default: "team",
    options: [
      { value: "team", title: "Team" },
      { value: "board", title: "Board" },
    ],
  },
  { name: "notes", type: "file", multiple: true, title: "Notes" },
  { name: "words", type: "integer", title: "Most words", minimum: 80, maximum: 2000 },
  { name: "copyTo", type: "string", multiple: true, title: "Copy to", format: "email" },
  { name: "keep", type: "boolean", title: "Keep the draft", default: false },
  {
    name: "tone",
    type: "select",
    title: "Tone",
    required: true,
    options: [
      { value: "plain", title: "Plain", description: "Short sentences, numbers first" },
      { value: "warm", title: "Warm", description: "Names people, thanks them" },
    ],
  },
  {
    name: "city",
    type: "select",
    title: "City",
    options: Array.from({ length: 12 }, (_, index) => ({ value: `c${index}`, title: `City ${index + 1}` })),
  },
  {
    name: "leaveOut",
    type: "checkboxes",
    multiple: true,
    title: "Leave out",
    options: ["Support", "Sales", "Press", "Legal", "Payroll"].map((value) => ({ value })),
  },
  { name: "parts", type: "checkboxes", multiple: true, title: "Parts", options: [{ value: "text" }, { value: "charts" }] },
  { name: "at", type: "datetime", title: "Publish at" },
  { name: "from", type: "time", title: "Not before" },
  { name: "rate", type: "number", title: "Rate", minimum: 0.5 },
  { name: "text", type: "string", title: "Anything to add", maxLength: 500 },
  { name: "bare", type: "positional", title: "Bare value" },
  { name: "token", type: "secret", title: "Token" },
  { name: "extra", type: "json", title: "Extra" },
];

const TREE = {
  page: "# Week 48\n\nDeploys are back under ten minutes.",
  highlights: [
    { team: "Platform", words: 120 },
    { team: "Growth", words: 90 },
  ],
  ok: true,
  none: null,
};
const ROWS = [
  { team: "Platform", words: 120, note: "faster" },
  { team: "Growth", words: 90, note: null },
];

function Heading({ children }: { children: string }) {
  return <h2 className="k-h2">{children}</h2>;
}

export default function KitPage() {
  const { t } = useI18n();
  const form = useParamForm({ fields: ALL_FIELDS });
  const [side, setSide] = useState<"table" | "tree">("table");
  const [on, setOn] = useState(true);
  const [checked, setChecked] = useState(true);
  const [radio, setRadio] = useState("plain");
  const [number, setNumber] = useState("20");
  const [text, setText] = useState("Plain");
  const [tab, setTab] = useState("one");
  return (
    <div className="app-scroll" style={{ padding: "1.25rem" }}>
      <div className="k-col" style={{ gap: "1rem", maxWidth: "48rem" }}>
        <h1 className="k-h1">Kit</h1>
        <Heading>Run states</Heading>
        <ul className="k-panel k-rows">
          {RUNS.map(([status, parts]) => (
            <li key={status} className="k-row">
              <Glyph name={status} />
              <span className="k-grow">
                <StatusPill status={status} />
              </span>
              <Lifeline stages={parts} status={status} now={parts.at(-1)!.until!} />
            </li>
          ))}
        </ul>
        <div className="k-r k-wrap">
          {OTHERS.map((name) => (
            <Glyph key={name} name={name} />
          ))}
        </div>
        <Heading>Buttons</Heading>
        <div className="k-r k-wrap">
          <Button look="primary" keys="Enter">
            Answer
          </Button>
          <Button icon={GitCompareArrows}>Compare</Button>
          <Button look="quiet" iconAfter={ArrowRight}>
            All runs
          </Button>
          <Button look="danger" icon={Square}>
            Cancel run
          </Button>
          <Button offBecause="Choose two runs first">Off</Button>
          <IconButton icon={Ellipsis} label="More" bordered />
          <Button size="small">Small</Button>
          <Button look="primary" size="large">
            Large
          </Button>
          <ButtonGroup>
            <Button>Run again</Button>
            <Menu
              trigger={<Button aria-label="Ways to run again">▾</Button>}
              items={[{ label: "Same input", keys: "Shift R", onSelect: () => {} }, "line", { label: "Delete", danger: true, onSelect: () => {} }]}
            />
          </ButtonGroup>
          <Confirm
            trigger={<Button>Ask</Button>}
            title="Cancel the run?"
            text="It stops at once."
            confirm="Cancel run"
            keep="Keep running"
            onConfirm={() => {}}
          />
          <CopyButton text="copied text" />
          <Button onClick={() => toast("Written to mcp.json", { undo: () => toast("Put back") })}>Toast</Button>
        </div>
        <div className="k-r k-wrap">
          <Segmented
            label="Side"
            value={side}
            items={[
              { value: "table", label: "Table" },
              { value: "tree", label: "Tree" },
            ]}
            onChange={setSide}
          />
          <Switch label="Switch" checked={on} onChange={setOn} />
          <Checkbox label="Box" checked={checked} onChange={setChecked} />
          <Kbd keys="Ctrl K" />
          <Chip on onRemove={() => {}} removeLabel="Remove">
            Status <b>failed</b>
          </Chip>
          <Tag>Draft</Tag>
          <Tag tone="wait">differs</Tag>
          <Tag tone="fail">refused</Tag>
          <Tag tone="ok">in step</Tag>
          <Tile letters="CC" label="Claude Code" />
          <Tile label="You" />
        </div>
        <RadioList
          label="Tone"
          value={radio}
          options={[
            { value: "plain", label: "Plain", description: "Short sentences" },
            { value: "warm", label: "Warm" },
          ]}
          onChange={setRadio}
        />
        <div className="k-r">
          <TextField label="Text" value={text} onChange={setText} />
          <NumberField label="Number" value={number} onChange={setNumber} invalid minimum={80} maximum={2000} />
        </div>
        <Heading>Form</Heading>
        <ParamFields form={form} />
        <Button look="primary" onClick={() => form.submit()}>
          Check
        </Button>
        <Heading>Data</Heading>
        <Tabs
          label="Tabs"
          value={tab}
          tabs={[
            { value: "one", label: "One" },
            { value: "two", label: "Two", count: "214" },
          ]}
          onChange={setTab}
        >
          <div style={{ height: "14rem", display: "flex" }}>
            <JsonTree value={TREE} root="output" label="Output" />
          </div>
        </Tabs>
        <DataTable rows={ROWS} label="Teams" />
        <DiffLines
          label="Change"
          lines={[
            { sign: " ", text: "{", oldLine: 1, newLine: 1 },
            { sign: "-", text: '  "command": "/tmp/old"', oldLine: 2 },
            { sign: "+", text: '  "command": "/usr/bin/new"', newLine: 2 },
            { sign: " ", text: "}", oldLine: 3, newLine: 3 },
          ]}
        />
        <Markdown
          text={
            "## Week 48\n\nDeploys are **back** under ten minutes, see `deploy.log` and [the board](https://example.org).\n\n- one\n- two\n\n<b>not bold</b>"
          }
        />
        <Empty glyph="todo" title="Nothing here yet">
          <Button>Do something</Button>
        </Empty>
        <ErrorState error={{ code: "store_unavailable", message: "`history.db` is no database" }} onRetry={() => {}} />
        <BoneRows rows={2} />
        <span className="k-sub">{t("common.appName")}</span>
      </div>
    </div>
  );
}
