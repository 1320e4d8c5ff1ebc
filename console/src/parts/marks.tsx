// Small marks that stand in rows: verifications, flags, line counts, paths. Each is a
// glyph and a word; colour only repeats them.
import type { Answer } from "../api/types.ts";
import { shown } from "../words/escape.ts";
import { answerWords } from "../words/checkpoint.ts";
import { count } from "../words/number.ts";
import { Icon, type IconName } from "./Icon.tsx";

const glyphs: Record<string, IconName> = { passed: "check", failed: "cross" };

/** Verify is one verification: ✔ test, ✘ test, as 14. A claim is quoted and never green. */
export function Verify({ answer: a }: { answer: Answer }) {
  if (a.claim) {
    return (
      <span className="verify claim" title={answerWords(a)}>
        {shown(a.name)} “{shown(a.verdict)}”
      </span>
    );
  }
  const kind = a.verdict === "passed" || a.verdict === "failed" ? a.verdict : "unsure";
  return (
    <span className={`verify ${kind}`} title={answerWords(a)}>
      <Icon name={glyphs[a.verdict] ?? "question"} small />
      {a.bisect ? "bisect " : ""}
      {shown(a.name)}
      {a.as ? `, same as ${a.as}` : ""}
      {a.was && !a.as ? <span className="dimmer"> {a.was} before</span> : null}
      <span className="sr"> {a.verdict}</span>
    </span>
  );
}

export type Family = "good" | "bad" | "risky" | "mismatch" | "partial" | "unknown";

/** Flag is a word of its family. */
export function Flag({ family, children }: { family: Family; children: string }) {
  return <span className={`flag ${family}`}>{children}</span>;
}

/** Lines is +31 −4. */
export function Lines({ plus = 0, minus = 0 }: { plus?: number; minus?: number }) {
  if (plus === 0 && minus === 0) return null;
  return (
    <span className="lines">
      {plus > 0 ? <span className="plus">+{count(plus)}</span> : null}
      {plus > 0 && minus > 0 ? " " : null}
      {minus > 0 ? <span className="minus">−{count(minus)}</span> : null}
    </span>
  );
}

/** Path shows a path with its directory dim. */
export function Path({ path }: { path: string }) {
  const end = path.endsWith("/") ? path.slice(0, -1).lastIndexOf("/") : path.lastIndexOf("/");
  return (
    <span className="mono path" title={shown(path)}>
      <span className="dir">{shown(path.slice(0, end + 1))}</span>
      {shown(path.slice(end + 1))}
    </span>
  );
}

/** Named sets a title: the command that a checkpoint was kept before is set as one, not in backticks. */
export function Named({ title }: { title: string }) {
  const before = /^before `(.+)`$/.exec(title);
  if (!before) return <>{title}</>;
  return (
    <>
      before <code className="mono command">{before[1]}</code>
    </>
  );
}
