// Parts of the page in files of their own, fetched ahead of their first use. Not by `lazy`: React keeps what replaces a
// place holder hidden for up to 300 ms, here it is drawn in the first frame after its file has come.
import { type ComponentType, useEffect, useState } from "react";

/** When the fetching of parts begins, in milliseconds after the start: the first view has asked for its data by then. */
const BEGINS = 100;

/** A component of a file of its own; nothing is drawn until the file is there. */
export type Part<P extends object = object> = ComponentType<P> & { fetch: () => Promise<unknown> };

const parts: (() => Promise<unknown>)[] = [];

/** A component of a file of its own. */
export function ahead<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): Part<P> {
  let loaded: ComponentType<P> | undefined;
  const fetch = async () => {
    loaded = (await load()).default;
  };
  parts.push(fetch);
  function OfItsOwn(props: P) {
    const [state, setState] = useState<{ Shown?: ComponentType<P>; error?: unknown }>({ Shown: loaded });
    const { Shown } = state;
    useEffect(() => {
      if (Shown) return;
      let isGone = false;
      void fetch().then(
        () => !isGone && setState({ Shown: loaded }),
        (error: unknown) => !isGone && setState({ error }),
      );
      return () => {
        isGone = true;
      };
    }, [Shown]);
    // For the boundary around it.
    if (state.error !== undefined) throw state.error;
    return Shown ? <Shown {...props} /> : null;
  }
  return Object.assign(OfItsOwn, { fetch });
}

/** Fetches all parts, one after the other, so that the page can be used between them. */
async function fetchAhead(): Promise<void> {
  // A part may have parts of its own: they come to the end of the list.
  for (const fetch of parts) {
    await new Promise((resolve) => window.setTimeout(resolve));
    // A file that can't be had is asked for again when it is shown, and its error told there.
    await fetch().catch(() => undefined);
  }
}

window.setTimeout(() => void fetchAhead(), BEGINS);
