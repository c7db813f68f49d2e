// The page's entrance: finds out what it runs in, then shows the window.
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./styles/fonts.css";
import "./styles/tokens.css";
import "./kit/base.css";
import "./app/app.css";
import { App } from "./app/App";
import { chooseHost } from "./host/choose";

const root = document.getElementById("root");
if (root) {
  const host = await chooseHost();
  createRoot(root).render(
    <StrictMode>
      <App host={host} />
    </StrictMode>,
  );
}
