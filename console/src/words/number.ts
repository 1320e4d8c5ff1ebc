// Numbers as people read them; the same as the terminal's.

const commas = new Intl.NumberFormat("en-US"); // made once: making one is slow

/** 1,204. 0 is a dash where zero says "none". */
export const count = (n: number): string => commas.format(n).replace("-", "−");

export const orNone = (n: number): string => (n === 0 ? "–" : count(n));

/** 1 file, 2 files. */
export const several = (n: number, one: string, many = one + "s"): string => `${count(n)} ${n === 1 ? one : many}`;

/** 9.4 MB, 12 MB, 512 B: powers of 1000. */
export function bytes(n: number): string {
  const sign = n < 0 ? "−" : "";
  let v = Math.abs(n);
  if (v < 1000) return `${sign}${Math.round(v)} B`;
  const units = ["kB", "MB", "GB", "TB", "PB"];
  v /= 1000;
  let u = 0;
  while (u < units.length - 1 && v >= 999.5) {
    v /= 1000;
    u++;
  }
  return `${sign}${v < 9.95 ? v.toFixed(1) : v.toFixed(0)} ${units[u]}`;
}

/** 0.2 s, 38 s, 2 min 41 s, of nanoseconds. */
export function duration(ns: number): string {
  const s = ns / 1e9;
  if (s < 0.1) return "under 0.1 s";
  if (s < 9.95) return `${s.toFixed(1)} s`;
  if (s < 60) return `${Math.round(s)} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min ${Math.round(s % 60)} s`;
  return `${Math.floor(s / 3600)} h ${Math.round((s % 3600) / 60)} min`;
}

export const upper = (s: string): string => s.slice(0, 1).toUpperCase() + s.slice(1);

/** “auth.ts, session.ts and 7 more”. */
export function someNames(names: readonly string[], most = 3): string {
  if (names.length <= most + 1) return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${names.at(-1)}` : (names[0] ?? "");
  return `${names.slice(0, most).join(", ")} and ${count(names.length - most)} more`;
}
