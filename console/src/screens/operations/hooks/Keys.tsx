// Who gets in: a line for each key, ended ones folded.
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { keys, revokeKey } from "../../../api/office.ts";
import type { Key } from "../../../api/types.ts";
import { Icon } from "../../../parts/Icon.tsx";
import { Waiting, Wrong } from "../../../parts/states.tsx";
import { shown } from "../../../words/escape.ts";
import { count, several } from "../../../words/number.ts";
import { ago, clock, until, whole } from "../../../words/time.ts";
import { Confirm } from "../Ask.tsx";
import { useOffice } from "../office.tsx";
import { kindShort, kindWords, liveKey, nameOf, soonEnds, type Names } from "../words.ts";
import { KeyForm } from "./KeyForm.tsx";

export function Keys() {
  const ring = useQuery(keys);
  const { names, me } = useOffice();
  const [making, setMaking] = useState(false);
  const [ending, setEnding] = useState<Key>();
  const [ended, setEnded] = useState(false);
  const mine = (k: Key) => !!me.key && me.key.kind === k.kind && me.key.name === k.name;
  const now = Date.now();
  const live = (ring.data ?? []).filter((k) => liveKey(k, now));
  const past = (ring.data ?? []).filter((k) => !liveKey(k, now));
  const rows = ended ? [...live, ...past] : live;
  return (
    <section className="card ops-card" aria-labelledby="keys-title">
      <header>
        <h2 id="keys-title">Keys</h2>
        <span className="dimmer grow">{ring.data ? count(live.length) : ""}</span>
        <button type="button" className="button ops-small" onClick={() => setMaking(true)}>
          <Icon name="plus" small />
          New key
        </button>
      </header>
      {ring.isPending ? <Waiting what="keys" /> : null}
      {ring.isLoadingError ? <Wrong error={ring.error} again={() => void ring.refetch()} /> : null}
      <ul className="ops-keys" aria-label="Keys" tabIndex={0}>
        {rows.map((k) => (
          <Row key={k.id} k={k} now={now} names={names} end={() => setEnding(k)} />
        ))}
      </ul>
      <p className="ops-note">
        No key both writes and deletes history. Keys are shown once and kept as digests.
        {past.length > 0 ? (
          <>
            {" "}
            <button type="button" className="link" aria-expanded={ended} onClick={() => setEnded(!ended)}>
              {ended ? "Hide" : "Show"} {several(past.length, "ended key")}
            </button>
          </>
        ) : null}
      </p>
      {making ? <KeyForm close={() => setMaking(false)} /> : null}
      {ending ? (
        <Confirm title={`Revoke ${title(ending)}`} verb="Revoke the key" stale={[["office"]]} close={() => setEnding(undefined)} deed={() => revokeKey(ending.id)}>
          Whoever uses the {shown(ending.kind)} key that ends in <span className="mono">{shown(ending.tail)}</span> is out within two seconds, on every server.
          {mine(ending) ? " You are here with a key of this kind and name: if it is this one, you are out, too." : ""}
          {ending.used ? ` It was last used ${ago(ending.used)}.` : " It was never used."} This can't be undone; a new key can be made.
        </Confirm>
      ) : null}
    </section>
  );
}

const title = (k: Key) => (k.name ? `“${shown(k.name)}”` : `the ${shown(k.kind)} key`);

function Row({ k, now, names, end }: { k: Key; now: number; names: Names; end: () => void }) {
  const live = liveKey(k, now);
  const where = k.workspaces.length === 0 ? "all workspaces" : k.workspaces.length <= 2 ? k.workspaces.map((w) => nameOf(names, w)).join(", ") : several(k.workspaces.length, "workspace");
  return (
    <li className={live ? undefined : "past"}>
      <span className="cut">
        <b className="cut">{shown(k.name) || shown(k.kind)}</b>
        <span className="dimmer cut" title={`begins with rtk_${shown(k.kind)}_`}>
          {shown(k.kind)} <span className="mono">…{shown(k.tail)}</span>
        </span>
      </span>
      <span className="cut">
        <span className="cut" title={kindWords[k.kind]}>
          {kindShort[k.kind] ?? shown(k.kind)}
        </span>
        <span className="dimmer cut">{where}</span>
      </span>
      <span className="right">
        <span className="num">{k.used ? ago(k.used) : "never used"}</span>
        <span className="dimmer num">{ends(k, now)}</span>
      </span>
      {live ? (
        <button type="button" className="icon-button" aria-label={`Revoke ${title(k)}…`} title="Revoke…" onClick={end}>
          <Icon name="cross" small />
        </button>
      ) : (
        <span />
      )}
    </li>
  );
}

function ends(k: Key, now: number) {
  if (k.revoked) return <span title={whole(k.revoked)}>revoked {clock(k.revoked)}</span>;
  if (!k.expires) return "no end";
  if (!liveKey(k, now)) return <span title={whole(k.expires)}>ended {clock(k.expires)}</span>;
  return soonEnds(k, now) ? (
    <>
      ends <b className="risky">{until(k.expires)}</b>
    </>
  ) : (
    <span title={whole(k.expires)}>ends {until(k.expires)}</span>
  );
}
