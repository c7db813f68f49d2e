import type { DockClient } from "../../api/contract";
import type { MessageKey } from "../../i18n";

/** How a client's file stands to this project. */
export const STATE_WORDS: Record<DockClient["state"], MessageKey> = {
  in_step: "dock.inStep",
  differs: "dock.differs",
  not_added: "dock.notAdded",
  absent: "dock.absent",
};
