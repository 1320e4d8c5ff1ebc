// Prints what the console shows of timelines, as a list of rows, each a list of words:
// node timelines.mjs file-of-timelines.json. The Go tests compare it with the terminal.
import { readFileSync } from "node:fs";
import { close, load } from "./load.mjs";

try {
  const { build } = await load("screens/timeline/view.ts");
  const { storyLine, marks } = await load("screens/timeline/story.ts");
  const { rangeText } = await load("screens/timeline/rows.ts");
  const { shown } = await load("words/escape.ts");
  const { orNone } = await load("words/number.ts");
  const told = (row) => [
    shown(row.title), shown(row.who ?? ""), orNone(row.files), ...(row.flags ?? []).map((f) => shown(f.word)), ...(row.pins ?? []).map((p) => shown(p)),
    ...marks(row, 2).shown.map((a) => (a.as ? `same as ${a.as}` : shown(a.name))),
    ...storyLine(row).filter((part) => part[0].look !== "dim").map((part) => part.map((p) => p.text).join("")), // what is only counted needs a wider screen
  ];
  const words = (x) => {
    switch (x.kind) {
      case "checkpoint":
        return [String(x.row.number), ...told(x.row)];
      case "fork":
        return ["fork", ...told(x.row)];
      case "fold":
        return [rangeText(x.row), shown(x.row.title)];
      case "more":
        return ["more", shown(x.row.title)];
      case "effect":
        return [shown(x.effect.id), shown(x.effect.text)];
      default:
        return [x.kind];
    }
  };
  const list = ({ flat, graph }) => {
    const rows = flat.rows.filter((r) => r.kind === "checkpoint");
    return build({ rows, graph: graph.rows, lanes: graph.lanes, wanted: {}, shut: new Set(), now: false, rest: 0, beyond: 0 }).items.map(words);
  };
  process.stdout.write(JSON.stringify(JSON.parse(readFileSync(process.argv[2], "utf8")).map(list)));
} finally {
  close();
}
