// A day of messages as 24 small bars: what arrived, and on top of it what did not. The
// same stands beside it in words.
import { count, several } from "../../../words/number.ts";
import { hour } from "../../../words/time.ts";
import type { Health } from "./health.ts";

const wide = 5;
const bar = 3.4;
const high = 16;

/** Bars draws one path for each colour, so that many webhooks stay few nodes. */
export function Bars({ health }: { health: Health }) {
  const top = Math.max(1, ...health.hours.map((h) => h.good + h.bad));
  const tall = (n: number) => (n === 0 ? 0 : Math.max(2, (n / top) * high));
  let good = "";
  let bad = "";
  let none = "";
  health.hours.forEach((h, i) => {
    const x = i * wide;
    if (h.good + h.bad === 0) none += box(x, high - 1, 1);
    const g = Math.min(tall(h.good), h.bad ? high - 2 : high);
    const b = Math.min(tall(h.bad), high - g);
    if (g) good += box(x, high - g, g);
    if (b) bad += box(x, high - g - b, b);
  });
  return (
    <svg className="ops-bars" width={health.hours.length * wide} height={high} viewBox={`0 0 ${health.hours.length * wide} ${high}`} role="img" aria-label={words(health)}>
      <title>{words(health)}</title>
      <path className="none" d={none} />
      <path className="good" d={good} />
      <path className="bad" d={bad} />
    </svg>
  );
}

const box = (x: number, y: number, h: number) => `M${x} ${y.toFixed(1)}h${bar}v${h.toFixed(1)}h-${bar}z`;

function words(h: Health): string {
  if (h.total === 0) return "no message in 24 hours";
  const missing = h.total - h.delivered;
  if (missing === 0) return `${several(h.total, "message")} in 24 hours, all arrived`;
  const worst = h.hours.reduce((w, x, i) => (x.bad > h.hours[w]!.bad ? i : w), 0);
  const at = new Date(Date.now() - (h.hours.length - worst) * 3_600_000);
  return `${several(h.total, "message")} in 24 hours, ${count(missing)} did not arrive; most of them in the hour from ${hour(at)}`;
}
