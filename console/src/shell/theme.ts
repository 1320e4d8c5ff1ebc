// Light or dark: what the person chose here, else what the machine says.
import { useSyncExternalStore } from "react";

export type Theme = "light" | "dark";

const dark = matchMedia("(prefers-color-scheme: dark)");
const key = "retake.theme";
const watchers = new Set<() => void>();

function chosen(): Theme | null {
  try {
    const t = localStorage.getItem(key);
    return t === "light" || t === "dark" ? t : null;
  } catch {
    return null; // storage may be off
  }
}

const present = (): Theme => chosen() ?? (dark.matches ? "dark" : "light");

export function applyTheme() {
  document.documentElement.dataset.theme = present();
  for (const w of watchers) w();
}

export function turnTheme() {
  const next: Theme = present() === "dark" ? "light" : "dark";
  try {
    localStorage.setItem(key, next);
  } catch {
    // then it lasts as long as the page
  }
  applyTheme();
}

dark.addEventListener("change", applyTheme);

export const useTheme = (): Theme =>
  useSyncExternalStore(
    (w) => {
      watchers.add(w);
      return () => void watchers.delete(w);
    },
    present,
  );
