// Five fields of cron, in UTC, as the server reads them: for words and for the next times
// in the form of a schedule. The server decides; this only shows before it is asked.

const names = [
  { least: 0, most: 59, words: [] as string[] },
  { least: 0, most: 23, words: [] },
  { least: 1, most: 31, words: [] },
  { least: 1, most: 12, words: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"] },
  { least: 0, most: 6, words: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"] },
] as const;

export interface Cron {
  fields: string[];
  sets: Set<number>[];
}

function value(text: string, i: number): number | undefined {
  const f = names[i]!;
  const word = (f.words as readonly string[]).indexOf(text.toLowerCase());
  if (word >= 0) return word + f.least;
  if (!/^\d{1,2}$/.test(text)) return undefined;
  const n = Number(text);
  return n >= f.least && n <= f.most ? n : undefined;
}

function item(text: string, i: number, out: Set<number>): boolean {
  const f = names[i]!;
  const [base = "", step, more] = text.split("/");
  if (more !== undefined || (step !== undefined && !/^[1-9]\d?$/.test(step))) return false;
  let from: number | undefined = f.least;
  let to: number | undefined = f.most;
  if (base !== "*") {
    const [a = "", b, c] = base.split("-");
    if (c !== undefined) return false;
    from = value(a, i);
    to = b !== undefined ? value(b, i) : step !== undefined ? f.most : from;
  }
  if (from === undefined || to === undefined || from > to) return false;
  for (let n = from; n <= to; n += Number(step ?? 1)) out.add(n);
  return true;
}

/** parse reads the fields; undefined when they make no sense. */
export function parse(text: string): Cron | undefined {
  const fields = text.trim().split(/\s+/);
  if (fields.length !== names.length) return undefined;
  const sets: Set<number>[] = [];
  for (const [i, f] of fields.entries()) {
    const set = new Set<number>();
    if (!f.split(",").every((t) => item(t, i, set))) return undefined;
    sets.push(set);
  }
  return { fields, sets };
}

const open = (f: string) => f === "*" || f === "*/1";

function dayFits(c: Cron, d: Date): boolean {
  if (!c.sets[3]!.has(d.getUTCMonth() + 1)) return false;
  const day = c.sets[2]!.has(d.getUTCDate());
  const week = c.sets[4]!.has(d.getUTCDay());
  // With both days given, one of them is enough; a star leaves the other alone.
  return open(c.fields[2]!) || open(c.fields[4]!) ? day && week : day || week;
}

/** The next times after a time, at most so many, and none later than a year and a bit. */
export function nextTimes(c: Cron, after: Date, n: number): Date[] {
  const out: Date[] = [];
  const minutes = [...c.sets[0]!].sort((a, b) => a - b);
  const hours = [...c.sets[1]!].sort((a, b) => a - b);
  for (let d = 0; d < 400 && out.length < n; d++) {
    const day = new Date(Date.UTC(after.getUTCFullYear(), after.getUTCMonth(), after.getUTCDate() + d));
    if (!dayFits(c, day)) continue;
    for (const h of hours) {
      for (const m of minutes) {
        const at = new Date(day.getTime() + (h * 60 + m) * 60_000);
        if (at > after && out.length < n) out.push(at);
      }
    }
  }
  return out;
}

const two = (n: string) => n.padStart(2, "0");
const dayNames = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/** every 5 minutes, every day at 03:00: of what people usually write; else nothing. */
export function cadenceWords(text: string): string {
  const c = parse(text);
  if (!c) return "";
  const [m = "", h = "", day = "", month = "", week = ""] = c.fields;
  const plain = (f: string) => /^\d+$/.test(f);
  if (![day, month].every(open)) return "";
  if (open(h) && open(week)) {
    if (open(m)) return "every minute";
    const step = /^\*\/(\d+)$/.exec(m)?.[1];
    if (step && 60 % Number(step) === 0) return `every ${step} minutes`;
    if (plain(m)) return Number(m) === 0 ? "every hour" : `every hour at :${two(m)}`;
  }
  if (plain(m) && plain(h)) {
    const at = `${two(h)}:${two(m)} UTC`;
    if (open(week)) return `every day at ${at}`;
    if (plain(week)) return `every ${dayNames[Number(week)] ?? ""} at ${at}`;
    if (/^(1-5|mon-fri)$/i.test(week)) return `Monday to Friday at ${at}`;
  }
  const every = /^\*\/(\d+)$/.exec(h)?.[1];
  if (plain(m) && every && 24 % Number(every) === 0 && open(week)) return `every ${every} hours`;
  return "";
}
