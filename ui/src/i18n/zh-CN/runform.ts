import type runform from "../en/runform";
import type { Translation } from "../types";

const zh: Translation<typeof runform> = {
  title: "运行「{name}」",
  titleChoose: "运行入口",
  entrypoint: "入口",
  find: "查找入口或项目",
  noEntrypoint: "没有名称含「{text}」的入口或项目",
  nothingAnywhere: "目前没有可运行的项目，原因见各项目的概览。",
  nothingToRun: "这个项目现在没有可运行的入口，原因见项目概览。",
  entrypointGone: "项目中已没有入口「{name}」，选择另一个。",
  side: "填写方式",
  form: "表单",
  json: "JSON",
  jsonLabel: "JSON 形式的输入",
  jsonHint: "与表单的值双向一致。机密只在表单中填写。",
  jsonObject: "输入应为一个对象",
  jsonUnknown: { other: "{names} 不是这里的参数" },
  draft: "草稿",
  draftHint: "不提供给 AI 客户端",
  startFrom: "起始内容",
  theDefaults: "默认值",
  keptDraft: "上次输入的内容",
  olderInputs: "取自以前的运行",
  whenTime: "{day} {time}",
  noParams: "不需要输入。按「运行」即在「{project}」中启动。",
  outside: "在外部做同样的事",
  command: "命令",
  mcpCall: "MCP 调用",
  run: "运行",
  starting: "正在启动",
};

export default zh;
