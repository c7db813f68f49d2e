// The window on this area's scenes, for looking at it: /src/views/run/testing/?theme=dark&lang=zh-CN&text=200#/run/20261130-e1ka
import { createRoot } from "react-dom/client";
import "@fontsource-variable/inter/index.css";
import "@fontsource-variable/jetbrains-mono/index.css";
import "../../../styles/tokens.css";
import "../../../kit/base.css";
import "../../../app/app.css";
import type { AppSettings } from "../../../api/contract";
import { App } from "../../../app/App";
import { createSceneHost } from "./host";

const params = new URLSearchParams(location.search);
const settings: Partial<AppSettings> = {
  theme: params.get("theme") === "dark" ? "dark" : "light",
  language: params.get("lang") === "zh-CN" ? "zh-CN" : "en",
  textSize: Number(params.get("text") ?? 100),
};
const root = document.getElementById("root");
const host = createSceneHost({ settings });
Object.assign(window, { scenes: host });
if (root) createRoot(root).render(<App host={host} />);
