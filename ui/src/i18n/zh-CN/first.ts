import type first from "../en/first";
import type { Translation } from "../types";

const zh: Translation<typeof first> = {
  title: "把你的工作流变成任何 AI 客户端的工具",
  lead: "每次运行从第一次调用到最后一个回答都留在这里。需要你时，它会在这个窗口等待。",
  done: "已完成",
  addTitle: "添加项目",
  addText: "一个包含工作流、引导作业或看板的文件夹。",
  added: "「{name}」已添加。",
  drop: "把文件夹拖到这里",
  dropHint: "其中的内容不会被更改或移动",
  choose: "选择文件夹…",
  chooseAnother: "选择另一个…",
  sampleTitle: "或试试示例",
  sampleText: "一个可以随意尝试的小项目：运行它，看阶段、输出和日志。大约一分钟。",
  make: "创建示例并运行",
  making: "正在创建",
  sampleWhere: "放在你主目录下单独的文件夹，随时可以删除",
  sampleFailed: "示例未能创建或启动",
  connectTitle: "接入客户端",
  connectText: "把一段片段复制到你的 AI 客户端，或由我们写入并保留副本。",
  connectFound: "本机已有：{names}。复制一段片段，或由我们写入并保留副本。",
  join: "、",
  afterStep1: "完成第 1 步之后",
  allClients: "全部客户端",
  goHome: "前往首页",
  later: "十分钟后，你会看到这样的界面",
  now: "现在正在发生",
  previewSaid: "稍后窗口的样子：一个问题等你处理，列出三次运行",
  previewQuestion: "这一页用什么语气？",
  previewFrom: "示例，由 Claude Code 提出",
  previewWrite: "写一页",
  previewConvert: "转换",
  terminal: "或在终端中",
  terminalHint: "即使这个窗口关着，运行也会出现在这里。",
};

export default zh;
