import { expect, test } from "vitest";
import { reachedBy } from "./listKeys";

test("arrows go by one and stop at the ends; Home and End go there", () => {
  expect(["ArrowDown", "ArrowUp", "Home", "End"].map((key) => reachedBy(key, 1, 5))).toEqual([2, 0, 0, 4]);
  expect([reachedBy("ArrowUp", 0, 5), reachedBy("ArrowDown", 4, 5)]).toEqual([0, 4]);
  expect([reachedBy("ArrowUp", -1, 5), reachedBy("ArrowDown", -1, 5)]).toEqual([0, 0]);
  expect([reachedBy("ArrowLeft", 1, 5), reachedBy("ArrowLeft", 1, 5, ["ArrowLeft", "ArrowRight"])]).toEqual([undefined, 0]);
});
