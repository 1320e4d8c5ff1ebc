// What the page is shown on, as far as the layout of a screen has to know.
import { useMemo, useSyncExternalStore } from "react";

/** useMedia tells whether a media query holds, and goes with it. */
export function useMedia(query: string): boolean {
  const media = useMemo(() => matchMedia(query), [query]);
  const watch = useMemo(
    () => (tell: () => void) => {
      media.addEventListener("change", tell);
      return () => media.removeEventListener("change", tell);
    },
    [media],
  );
  return useSyncExternalStore(watch, () => media.matches);
}

/** useNarrow tells whether there is one column only, as on a phone: rows are taller then, for fingers. */
export const useNarrow = (): boolean => useMedia("(max-width: 720px)");
