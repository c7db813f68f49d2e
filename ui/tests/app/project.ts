// The project that the tests run: something that writes when told to, something that asks, something that needs leave, something that fails.
import { cpSync } from "node:fs";
import path from "node:path";
import type { Home } from "./world";

const REPORTS = path.join(import.meta.dirname, "../../../tests/projects/reports");

/** Puts the project into a home and registers it; answers its id. */
export function register(home: Home): string {
  cpSync(REPORTS, home.at("reports"), { recursive: true });
  const added = home.run("projects", "add", home.at("reports"), "--json");
  return String(added[0]?.projectId);
}
