// The page's entrance: finds out what it runs in, then shows the window.
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import "./styles/fonts.css";
import "./styles/tokens.css";
import "./kit/base.css";
import "./app/app.css";
import { App } from "./app/App";
import { parseAddress } from "./app/router";
import { viewOf } from "./app/views";
import { chooseHost } from "./host/choose";

const root = document.getElementById("root");
if (root) {
  const view = viewOf(parseAddress(location.hash), true);
  // A file that can't be had is asked for again when it is shown, and its error told there.
  const [host] = await Promise.all([chooseHost(), view.Component.fetch().catch(() => undefined)]);
  createRoot(root).render(
    <StrictMode>
      <App host={host} />
    </StrictMode>,
  );
}
