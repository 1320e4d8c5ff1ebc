// Times as people read them: today 10:27, this week Sat 17:05, else 9 Oct.
const days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const two = (n: number) => String(n).padStart(2, "0");
const day = (d: Date) => Math.floor(Date.UTC(d.getFullYear(), d.getMonth(), d.getDate()) / 86_400_000);

export const hour = (d: Date): string => `${two(d.getHours())}:${two(d.getMinutes())}`;

export const seconds = (at: string): string => {
  const d = new Date(at);
  return `${hour(d)}:${two(d.getSeconds())}`;
};

export const date = (d: Date, now = new Date()): string =>
  `${d.getDate()} ${months[d.getMonth()]}${d.getFullYear() === now.getFullYear() ? "" : ` ${d.getFullYear()}`}`;

export function clock(at: string, now = new Date()): string {
  const d = new Date(at);
  const past = day(now) - day(d);
  if (past === 0) return hour(d);
  if (past > 0 && past < 7) return `${days[d.getDay()]} ${hour(d)}`;
  return date(d, now);
}

/** The whole time, for titles of elements and for decisions. */
export function whole(at: string): string {
  const d = new Date(at);
  return `${days[d.getDay()]} ${d.getDate()} ${months[d.getMonth()]} ${d.getFullYear()}, ${seconds(at)}`;
}

export function ago(at: string, now = new Date()): string {
  const s = (now.getTime() - new Date(at).getTime()) / 1000;
  if (s < 60) return "just now";
  if (s < 3600) return `${Math.floor(s / 60)} min ago`;
  if (s < 86_400) {
    const m = Math.floor((s % 3600) / 60);
    return s < 4 * 3600 && m > 0 ? `${Math.floor(s / 3600)} h ${m} min ago` : `${Math.floor(s / 3600)} h ago`;
  }
  return `${Math.floor(s / 86_400).toLocaleString("en-US")} d ago`;
}

/** In 3 days, in 25 min: of what is to come. */
export function until(at: string, now = new Date()): string {
  const s = (new Date(at).getTime() - now.getTime()) / 1000;
  if (s <= 0) return "now";
  if (s < 60) return `in ${Math.ceil(s)} s`;
  if (s < 3600) return `in ${Math.round(s / 60)} min`;
  if (s < 86_400) return `in ${Math.round(s / 3600)} h`;
  return `in ${Math.round(s / 86_400)} days`;
}
