// The built page over the real backend: real programs, and a browser that Playwright leads. `npm run test:app`.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["tests/app/**/*.app.ts"],
    environment: "node",
    testTimeout: 90_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 20_000, interval: 20 } },
    // Two cores: one browser at a time.
    fileParallelism: false,
  },
});
