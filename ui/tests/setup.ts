// Before every test file: the page's styles, and no address or memory of the test before.
import "../src/styles/tokens.css";
import "../src/kit/base.css";
import "../src/app/app.css";
import { afterEach, beforeEach } from "vitest";
import { closeOverlay } from "../src/app/overlays";

beforeEach(() => {
  localStorage.clear();
  history.replaceState(null, "", `${location.pathname}${location.search}#/`);
});

afterEach(() => {
  closeOverlay();
  document.documentElement.removeAttribute("style");
  document.documentElement.dataset.theme = "light";
});
