// The icons, drawn in a square of 16. They are decoration: the word stands beside them.
const paths = {
  check: "M3 8.5 6.4 12 13 4.5",
  cross: "M4 4l8 8M12 4l-8 8",
  dot: "M8 8h.01",
  question: "M5.8 6a2.2 2.2 0 1 1 3.2 2c-.7.4-1 .8-1 1.5M8 12h.01",
  back: "M6 3 3 6l3 3M3 6h6.5a3.5 3.5 0 0 1 0 7H6",
  fork: "M4.5 4.5v7M11.5 4.5v1a3 3 0 0 1-3 3h-1a3 3 0 0 0-3 3M4.5 3.1h.01M11.5 3.1h.01M4.5 12.9h.01",
  search: "M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10ZM11 11l3 3",
  sun: "M8 11a3 3 0 1 0 0-6 3 3 0 0 0 0 6ZM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M12.6 3.4l-.7.7M4.1 11.9l-.7.7",
  warn: "M8 2.5 14.2 13H1.8ZM8 6.5v3M8 11.3h.01",
  flag: "M3.5 14V2.5h8l-2 3 2 3h-8",
  plus: "M8 3v10M3 8h10",
  down: "M4 6l4 4 4-4",
  up: "M4 10l4-4 4 4",
  left: "M10 4 6 8l4 4",
  right: "M6 4l4 4-4 4",
  trash: "M3 4.5h10M6.5 4.5v-2h3v2M4.5 4.5l.6 9h5.8l.6-9M6.8 7v4M9.2 7v4",
  box: "M8 1.8 13.5 5v6L8 14.2 2.5 11V5ZM2.5 5 8 8.2 13.5 5M8 8.2v6",
  key: "M6 12.5a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM7.8 8.2 13 3M11 5l1.6 1.6",
  database: "M2.8 4c0-1.2 2.3-2 5.2-2s5.2.8 5.2 2-2.3 2-5.2 2-5.2-.8-5.2-2ZM2.8 4v8c0 1.2 2.3 2 5.2 2s5.2-.8 5.2-2V4M2.8 8c0 1.2 2.3 2 5.2 2s5.2-.8 5.2-2",
  code: "M5 4 1.8 8 5 12M11 4l3.2 4L11 12",
  gear: "M8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4ZM8 1.8v2M8 12.2v2M1.8 8h2M12.2 8h2M3.6 3.6 5 5M11 11l1.4 1.4M12.4 3.6 11 5M5 11l-1.4 1.4",
  machine: "M2.5 3h11v4h-11ZM2.5 9h11v4h-11ZM5 5h.01M5 11h.01",
  shield: "M8 1.8 13 3.6v4c0 3.2-2.1 5.4-5 6.6-2.9-1.2-5-3.4-5-6.6v-4Z",
  out: "M9 3h4v4M13 3 7 9M11 9.5V13H3V5h3.5",
  talk: "M2.5 3h11v8h-6l-3 2.5V11h-2Z",
  pencil: "M3 13l.7-3L11 2.8 13.2 5 6 12.3ZM9.5 4.3 11.7 6.5",
  prompt: "M3 4.5 6 8l-3 3.5M7.5 12H13",
  eye: "M1.5 8S4 3.5 8 3.5 14.5 8 14.5 8 12 12.5 8 12.5 1.5 8 1.5 8ZM8 10a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  link: "M6.5 9.5 9.5 6.5M7 5l1.5-1.5a2.8 2.8 0 0 1 4 4L11 9M5 7l-1.5 1.5a2.8 2.8 0 0 0 4 4L9 11",
  copy: "M5.5 5.5h8v8h-8ZM10.5 5.5v-3h-8v8h3",
  more: "M3.5 8h.01M8 8h.01M12.5 8h.01",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.8V8l2.2 1.4",
  folder: "M2 4h4l1.5 1.5H14V13H2Z",
  file: "M4 2h5l3 3v9H4ZM9 2v3h3",
} as const;

export type IconName = keyof typeof paths;

export function Icon({ name, small }: { name: IconName; small?: boolean }) {
  return (
    <svg className={small ? "icon small" : "icon"} viewBox="0 0 16 16" aria-hidden="true">
      <path d={paths[name]} />
    </svg>
  );
}
