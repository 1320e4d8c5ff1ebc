// Chips, filters, grouping and zoom: what of the timeline is shown.
import { memo, useRef, useState } from "react";
import type { TimelineSearch } from "../../router.tsx";
import { Icon, type IconName } from "../../parts/Icon.tsx";
import { useKeys } from "../../shell/keys.ts";
import { shown } from "../../words/escape.ts";
import { agentName } from "../../words/checkpoint.ts";
import { count, several } from "../../words/number.ts";
import { clock } from "../../words/time.ts";
import type { Census, Kind } from "./filter.ts";
import { zooms, type Zoom } from "./overview.ts";

export type Wish = (s: Partial<TimelineSearch>) => void;

interface Props {
  search: TimelineSearch;
  wish: Wish;
  census?: Census;
  total: number;
  zoom?: Zoom; // none: what fits, or a span chosen by hand
  setZoom: (z: Zoom) => void;
  marked?: number;
  unmark: () => void;
}

const chips: [Kind, string, IconName][] = [
  ["good", "Good", "check"],
  ["failed", "Failed", "cross"],
  ["risky", "Risky", "warn"],
  ["flagged", "Flagged", "flag"],
];

export const Tools = memo(function Tools(p: Props) {
  const { search, wish, census } = p;
  return (
    <div className="tl-tools" role="group" aria-label="What is shown">
      <button type="button" className="chip" aria-pressed={!search.show} onClick={() => wish({ show: undefined })}>
        All <span className="num">{count(p.total)}</span>
      </button>
      {chips.map(([kind, word, icon]) => (
        <button key={kind} type="button" className="chip" aria-pressed={search.show === kind} onClick={() => wish({ show: search.show === kind ? undefined : kind })}>
          <Icon name={icon} small />
          {word}
          {census?.kinds[kind] ? <span className="num">{count(census.kinds[kind])}</span> : null}
        </button>
      ))}
      <span className="tl-bar" />
      <Active search={search} wish={wish} />
      <FilterMenu key={JSON.stringify(search)} search={search} wish={wish} census={census} />
      {p.marked !== undefined ? (
        <button type="button" className="chip" aria-pressed="true" title="Choose another checkpoint and press c" onClick={p.unmark}>
          {p.marked} is marked: choose another, press c
          <Icon name="cross" small />
        </button>
      ) : null}
      <Side group={search.group} wish={wish} zoom={p.zoom} setZoom={p.setZoom} />
    </div>
  );
});

/** Grouping of the list and zoom of the overview, at the end of the line. */
function Side({ group, wish, zoom, setZoom }: { group?: string; wish: Wish; zoom?: Zoom; setZoom: (z: Zoom) => void }) {
  return (
    <div className="tl-side tl-wide">
      <label className="chip tl-group">
        Group
        <select value={group ?? ""} onChange={(e) => wish({ group: e.target.value || undefined })}>
          <option value="">none</option>
          <option value="task">by task</option>
          <option value="session">by session</option>
        </select>
        <Icon name="down" small />
      </label>
      <div className="segments" role="group" aria-label="Zoom of the overview">
        {zooms.map((z) => (
          <button key={z} type="button" aria-pressed={zoom === z} onClick={() => setZoom(z)}>
            {z[0]!.toUpperCase() + z.slice(1)}
          </button>
        ))}
      </div>
    </div>
  );
}

const fields = ["path", "package", "session", "agent"] as const;

/** The filters that are set; each goes by its cross. */
function Active({ search, wish }: { search: TimelineSearch; wish: Wish }) {
  return (
    <>
      {fields.map((f) => {
        const value = search[f];
        if (!value) return null;
        const text = f === "agent" ? agentName(value) : f === "session" ? shown(value.slice(0, 8)) : shown(value);
        return (
          <button key={f} type="button" className="chip" aria-pressed="true" aria-label={`${f} ${shown(text)}: take the filter away`} onClick={() => wish({ [f]: undefined })}>
            {f} <span className={f === "path" ? "mono tl-cut" : "tl-cut"}>{text}</span>
            <Icon name="cross" small />
          </button>
        );
      })}
    </>
  );
}

/** So many sessions can be chosen; the newest. */
const mostSessions = 60;

function FilterMenu({ search, wish, census }: { search: TimelineSearch; wish: Wish; census?: Census }) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useKeys({ Escape: close }, open);
  const submit = (e: React.FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const data = new FormData(e.currentTarget);
    const value = (f: string) => String(data.get(f) ?? "").trim() || undefined;
    setOpen(false);
    const path = value("path")?.replace(/^\.?\/+|\/+$/g, "") || undefined;
    wish({ path, package: value("package"), session: value("session"), agent: value("agent"), left: data.get("left") ? "folded" : undefined });
  };
  return (
    <div className="tl-menu">
      <button ref={button} type="button" className="chip" aria-expanded={open} aria-controls="tl-filter" onClick={() => setOpen(!open)}>
        <Icon name="plus" small />
        Filter
      </button>
      {open ? (
        <form id="tl-filter" className="card" onSubmit={submit}>
          <label className="field">
            <span className="label">Path, or a directory</span>
            <input className="mono" name="path" defaultValue={search.path} placeholder="src/auth.ts" autoFocus />
          </label>
          <label className="field">
            <span className="label">Package that came, went or changed</span>
            <input className="mono" name="package" defaultValue={search.package} placeholder="express" />
          </label>
          <label className="field">
            <span className="label">Agent</span>
            <select name="agent" defaultValue={search.agent ?? ""}>
              <option value="">any</option>
              {[...(census?.agents ?? [])].map(([a, n]) => (
                <option key={a} value={a}>
                  {agentName(a)}, {several(n, "checkpoint")}
                </option>
              ))}
            </select>
          </label>
          <label className="field">
            <span className="label">Session</span>
            <select name="session" defaultValue={search.session ?? ""}>
              <option value="">any</option>
              {[...(census?.sessions ?? [])].slice(0, mostSessions).map(([id, s]) => (
                <option key={id} value={id}>
                  {clock(s.last)}, {agentName(s.agent)}, {several(s.checkpoints, "checkpoint")}, {shown(id.slice(0, 8))}
                </option>
              ))}
            </select>
          </label>
          <label className="row">
            <input type="checkbox" name="left" defaultChecked={search.left === "folded"} />
            Hide checkpoints replaced by a restore
          </label>
          <div className="row">
            <button type="submit" className="button primary">
              Show
            </button>
            <button type="button" className="button ghost" onClick={close}>
              Cancel
            </button>
          </div>
        </form>
      ) : null}
    </div>
  );
}
