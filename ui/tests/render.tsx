// Rendering for tests: a view, or the whole window, on the mock host.
import type { ReactNode } from "react";
import { page } from "vitest/browser";
import { render } from "vitest-browser-react";
import { App, Providers } from "../src/app/App";
import { navigate } from "../src/app/router";
import { createMockHost, type MockHost, type MockOptions } from "../src/host/mock";

export interface Rendered {
  host: MockHost;
  /** The element around what was rendered. */
  container: HTMLElement;
  unmount: () => Promise<void>;
}

export interface RenderOptions extends MockOptions {
  /** The address, without `#`. */
  at?: string;
  width?: number;
  height?: number;
  host?: MockHost;
}

async function prepare({ at = "/", width = 1280, height = 820, host, ...mock }: RenderOptions): Promise<MockHost> {
  await page.viewport(width, height);
  navigate(at, { replace: true });
  return host ?? createMockHost({ ...mock, settings: { language: "en", theme: "light", ...mock.settings } });
}

/** Gives the container the window's size, as `#root` has it. */
function fill(container: HTMLElement): void {
  container.style.height = "100vh";
  document.body.style.margin = "0";
}

/** The whole window. */
export async function renderApp(options: RenderOptions = {}): Promise<Rendered> {
  const host = await prepare(options);
  const { container, unmount } = await render(<App host={host} />);
  fill(container);
  return { host, container, unmount };
}

/** One piece inside of the window's providers, without sidebar and keyboard. */
export async function renderIn(element: ReactNode, options: RenderOptions = {}): Promise<Rendered> {
  const host = await prepare(options);
  const { container, unmount } = await render(<Providers host={host}>{element}</Providers>);
  fill(container);
  return { host, container, unmount };
}
