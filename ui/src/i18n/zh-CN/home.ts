import type home from "../en/home";
import type { Translation } from "../types";

const zh: Translation<typeof home> = {
  title: "首页",
  today: "今天",
  todayRuns: "{n} 次运行",
  todayFailed: "{n} 次失败",
  todayInterrupted: "{n} 次意外中断",
  todayMedian: "中位用时 {n}",
  waiting: "等你处理",
  oldestFirst: "最早的在前",
  nothingWaits: "没有等你处理的运行",
  more: "还有 {n} 个",
  fewer: "收起",
  phase: "阶段 {name}",
  asked: "{ago}提问",
  allow: "批准 {command}？",
  mayHaveHappened: "这一步可能已经发生。要再做一次吗？",
  move: "移动",
  running: "运行中",
  nothingRuns: "没有正在进行的运行",
  ofTotal: "{done} / {total}",
  done: "已完成 {done}",
  unknownProgress: "进度未知",
  cancelTitle: "取消「{name}」？",
  cancelText: "已做的部分会保留，之后可以再次运行。",
  cancelled: "已取消「{name}」",
  recent: "最近",
  allRuns: "全部运行",
  noRecent: "还没有运行",
  noRecentText: "在这里运行一个入口，或者让 AI 客户端来运行。",
  actNext: "下一行",
  actPrevious: "上一行",
  actAnswer: "打开，回答",
  actNew: "添加项目",
};

export default zh;
