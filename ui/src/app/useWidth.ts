// The width of an element in rem: breakpoints follow the text size as the design wants it.
import { type RefObject, useLayoutEffect, useState } from "react";

/** In rem at the present text size; undefined before the first layout. */
export function useWidth(ref: RefObject<HTMLElement | null>): number | undefined {
  const [width, setWidth] = useState<number>();
  useLayoutEffect(() => {
    const element = ref.current;
    if (!element) return;
    const measure = () => setWidth(element.clientWidth / Number.parseFloat(getComputedStyle(document.documentElement).fontSize));
    measure();
    const sizes = new ResizeObserver(measure);
    sizes.observe(element);
    // The text size is a style of the root; it changes the rem without changing the width.
    const styles = new MutationObserver(measure);
    styles.observe(document.documentElement, { attributes: true, attributeFilter: ["style"] });
    return () => {
      sizes.disconnect();
      styles.disconnect();
    };
  }, [ref]);
  return width;
}
