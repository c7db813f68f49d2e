import type palette from "../en/palette";
import type { Translation } from "../types";

const zh: Translation<typeof palette> = {
  title: "搜索或运行",
  placeholder: "搜索或运行",
  whatWith: "对它做什么",
  hits: { other: "{count} 项，{took}" },
  nothing: "没有包含「{text}」的内容",
  group_do: "操作",
  group_waiting: "等你处理",
  group_projects: "项目",
  group_runs: "运行记录",
  group_settings: "设置",
  run: "运行「{name}」",
  runIn: "运行「{name}」的入口",
  runAgain: "用上次的输入再次运行「{name}」",
  runsOf: "「{name}」的运行记录",
  connect: "为「{name}」接入客户端",
  settingsOf: "「{name}」的设置",
  open_output: "打开输出",
  open_logs: "打开日志",
  open_timeline: "打开时间线",
  openRun: "打开运行 {run}",
  openLine: "打开 {run} 的第 {line} 行",
  allRunsWith: "含「{text}」的全部运行",
  theme: "主题：{name}",
  language: "语言：{name}",
  move: "移动",
  do: "执行",
  more: "更多操作",
  mode_actions: "操作",
  mode_runs: "运行",
  mode_projects: "项目",
};

export default zh;
