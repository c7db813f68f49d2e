/// <reference types="vitest/config" />
import react from "@vitejs/plugin-react";
import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vite";
import { BROWSER, FLAGS } from "./scripts/browser.mjs";

/** Where the dev server of the backend listens, when the page is to show a real store (`?host=http`). */
const { origin, searchParams } = new URL(process.env.WORKFLOW_CODE_API ?? "http://127.0.0.1:4780");
/** It answers its own page, and who was given its token: the address that it prints has it. */
const backend = { target: origin, changeOrigin: true, headers: { origin, authorization: `Bearer ${searchParams.get("token") ?? ""}` } };

export default defineConfig({
  plugins: [react()],
  // A window loads the page from inside its binary, so addresses are relative.
  base: "./",
  server: {
    port: Number(process.env.PORT ?? 5273),
    strictPort: true,
    proxy: { "/rpc": backend, "/events": backend },
  },
  // Everything is found at the start, so that no test is reloaded for a package that turned up late.
  optimizeDeps: { entries: ["index.html", "src/**/*.{ts,tsx}", "tests/*.{ts,tsx}"] },
  build: {
    outDir: "dist",
    target: "safari16",
    cssTarget: "safari16",
    sourcemap: false,
    // The window's policy takes fonts and scripts from the page's own files only.
    assetsInlineLimit: 0,
    modulePreload: {
      polyfill: false,
      // Scripts come from inside the program at once; WebKit warns of those preloaded for a view that it has read already.
      resolveDependencies: (_file, dependencies, { hostType }) =>
        hostType === "html" ? dependencies : dependencies.filter((one) => one.endsWith(".css")),
    },
    chunkSizeWarningLimit: 700,
  },
  test: {
    include: ["src/**/*.test.{ts,tsx}", "tests/**/*.test.{ts,tsx}"],
    setupFiles: ["tests/setup.ts"],
    testTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    browser: {
      enabled: true,
      headless: true,
      screenshotFailures: false,
      provider: playwright({
        launchOptions: {
          executablePath: BROWSER,
          args: FLAGS,
        },
      }),
      instances: [{ browser: "chromium", viewport: { width: 1280, height: 820 } }],
    },
  },
});
