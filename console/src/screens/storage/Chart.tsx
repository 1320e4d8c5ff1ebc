// Checkpoints by day, or the bytes that they brought, as bars. What they show stands beside them in words.
import { bytes, count, several } from "../../words/number.ts";
import { date } from "../../words/time.ts";

const day = 86_400_000;
const dayOf = (back: number) => date(new Date(Date.now() - back * day));

export type What = "checkpoints" | "bytes";

const amount = { checkpoints: (n: number) => several(n, "checkpoint"), bytes };

/** The words for a row of days, for who does not see the bars. */
export function daysWords(days: readonly number[], what: What = "checkpoints"): string {
  const total = days.reduce((a, b) => a + b, 0);
  if (total === 0) return what === "bytes" ? "nothing came in 30 days" : "no checkpoint in 30 days";
  const most = Math.max(...days);
  return `${amount[what](total)} in 30 days, most on ${dayOf(days.length - 1 - days.lastIndexOf(most))}: ${what === "bytes" ? bytes(most) : count(most)}`;
}

/** A small one, for a row of a table: one path. */
export function Spark({ days }: { days: readonly number[] }) {
  const top = Math.max(1, ...days);
  let d = "";
  let none = "";
  days.forEach((n, i) => {
    const h = n === 0 ? 1 : Math.max(2, (n / top) * 22);
    const box = `M${i * 4.4} ${(22 - h).toFixed(1)}h3v${h.toFixed(1)}h-3z`;
    if (n === 0) none += box;
    else d += box;
  });
  return (
    <svg className="st-spark" width="132" height="22" viewBox="0 0 132 22" role="img" aria-label={daysWords(days)}>
      <title>{daysWords(days)}</title>
      <path className="none" d={none} />
      <path className="some" d={d} />
    </svg>
  );
}

/** The large one, with a line for its top and the days below. */
export function Days({ days, what }: { days: readonly number[]; what: What }) {
  const axis = what === "bytes" ? bytes : count;
  const most = Math.max(...days, 0);
  const top = nice(most);
  const last = days.length - 1;
  return (
    <figure className="st-days" aria-label={daysWords(days, what)}>
      <div className="st-plot">
        <svg viewBox="0 0 300 100" preserveAspectRatio="none" aria-hidden="true">
          {days.map((n, i) => (
            <rect key={i} className={n === 0 ? "none" : i === last ? "today" : "some"} x={i * 10 + 1.5} width={7} y={n === 0 ? 99 : 100 - (n / top) * 100} height={n === 0 ? 1 : (n / top) * 100}>
              <title>{`${dayOf(last - i)}: ${n === 0 ? "none" : amount[what](n)}`}</title>
            </rect>
          ))}
        </svg>
        <span className="st-top num">{axis(top)}</span>
        <span className="st-mid num">{top % 2 === 0 ? axis(top / 2) : ""}</span>
        <span className="st-zero num">0</span>
      </div>
      <div className="st-axis num" aria-hidden="true">
        <span>{dayOf(last)}</span>
        <span>{dayOf(20)}</span>
        <span>{dayOf(10)}</span>
        <span>today</span>
      </div>
    </figure>
  );
}

/** The next round number that holds it, even so that its half is whole. */
function nice(n: number): number {
  if (n <= 4) return 4;
  const size = 10 ** Math.floor(Math.log10(n));
  return [1, 1.2, 1.6, 2, 3, 4, 6, 8, 10].map((f) => f * size).find((v) => v >= n && v % 2 === 0) ?? 10 * size;
}
