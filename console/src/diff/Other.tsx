// What has no lines: pictures, and other bytes.
import { useState, type ReactNode } from "react";
import { shown } from "../words/escape.ts";
import { bytes } from "../words/number.ts";
import { pictureAt, type Side, type Sides } from "./content.ts";

const sizeOf = (s?: Side) => (s?.entry ? bytes(s.entry.size) : "");

/** 24 kB before, 31 kB now. */
export function sizes(s: Sides): string {
  if (!s.change) return sizeOf(s.after) || "unchanged";
  if (!s.before) return `new, ${sizeOf(s.after)}`;
  if (!s.after) return `deleted, ${sizeOf(s.before)}`;
  const by = (s.after.entry?.size ?? 0) - (s.before.entry?.size ?? 0);
  return `${sizeOf(s.before)} before, ${sizeOf(s.after)} after${by === 0 ? "" : `, ${by > 0 ? "+" : ""}${bytes(by)}`}`;
}

export function Special({ head, sides, binary }: { head: ReactNode; sides: Sides; binary?: boolean }) {
  return (
    <div className="diff-scroll" tabIndex={0} role="region" aria-label="The file">
      {head}
      <div className="diff-other">
        <h3>{binary ? "Bytes, not text" : "Nothing to read in it"}</h3>
        <p className="dim">{sizes(sides)}. There are no lines to compare; a restore brings every byte back.</p>
      </div>
    </div>
  );
}

export function Pictures({ head, ws, sides }: { head: ReactNode; ws: string; sides: Sides }) {
  return (
    <div className="diff-scroll" tabIndex={0} role="region" aria-label="The picture before and after">
      {head}
      <div className="diff-pictures">
        {sides.change && sides.before ? <Picture ws={ws} side={sides.before} when={sides.after ? "before" : "before it was deleted"} kind="del" /> : null}
        {sides.after ? <Picture ws={ws} side={sides.after} when={sides.before ? (sides.change ? "after" : "unchanged") : "new"} kind="add" /> : null}
      </div>
    </div>
  );
}

function Picture({ ws, side, when, kind }: { ws: string; side: Side; when: string; kind: "del" | "add" }) {
  const [size, setSize] = useState("");
  const [gone, setGone] = useState(false);
  return (
    <figure className={kind}>
      {gone ? (
        <p className="dim">This is no picture that is shown here. Its bytes are kept all the same.</p>
      ) : (
        <img
          src={pictureAt(ws, side)}
          alt={`${shown(side.path)}, ${when}`}
          onError={() => setGone(true)}
          onLoad={(e) => setSize(`${e.currentTarget.naturalWidth} × ${e.currentTarget.naturalHeight}`)}
        />
      )}
      <figcaption>
        <b>{when}</b> {[sizeOf(side), size].filter((x) => x !== "").join(" · ")}
      </figcaption>
    </figure>
  );
}
