// Webhooks, their messages, keys and the audit log on one page.
import { useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { auditCheck, keys } from "../../../api/office.ts";
import { count, several } from "../../../words/number.ts";
import { until } from "../../../words/time.ts";
import { Head, useOnce } from "../frame.tsx";
import { Part } from "../office.tsx";
import { useHealth } from "../troubles.ts";
import { liveKey, soonEnds } from "../words.ts";
import { Audit } from "./Audit.tsx";
import { Deliveries } from "./Deliveries.tsx";
import { sentenceOf } from "./health.ts";
import { HookTable } from "./HookTable.tsx";
import { Keys } from "./Keys.tsx";

type All = ReturnType<typeof useHealth>["all"];

export function Hooks() {
  const { all, hooks, settled } = useHealth();
  const ready = useOnce(settled);
  return (
    <Part needs="administer" closed="Webhooks, keys and the audit log are not for this key" asked={{ ...hooks, data: ready ? all : undefined }} what="webhooks and their messages">
      {(known) => <Told all={known} />}
    </Part>
  );
}

function Told({ all }: { all: All }) {
  const [chosen, setChosen] = useState<string | null>(); // null: all of them; undefined: nobody chose
  const opened = useRef<string>(undefined);
  const failing = all.find((x) => x.health.state === "retrying");
  opened.current ??= failing?.hook.id; // it stays open when it works again, with what is asked there
  const hook = chosen === undefined ? opened.current : (chosen ?? undefined);
  return (
    <>
      <Answer all={all} />
      <div className="ops-two">
        <div className="ops-stack">
          <HookTable all={all} chosen={hook} choose={setChosen} />
          {all.length > 0 ? <Deliveries key={hook ?? "all"} hook={all.find((x) => x.hook.id === hook)} hooks={all.map((x) => x.hook)} all={() => setChosen(null)} /> : null}
        </div>
        <div className="ops-stack">
          <Keys />
          <Audit />
        </div>
      </div>
    </>
  );
}

/** The sentence, and what else of the page is not in order. */
function Answer({ all }: { all: All }) {
  const ring = useQuery(keys);
  const chain = useQuery(auditCheck);
  const s = sentenceOf(all);
  const now = Date.now();
  const ending = (ring.data ?? []).filter((k) => soonEnds(k, now));
  const live = (ring.data ?? []).filter((k) => liveKey(k, now)).length;
  const others: string[] = [];
  if (ending.length === 1) others.push(`One of ${several(live, "key")} ends ${until(ending[0]!.expires!)}.`);
  else if (ending.length > 1) others.push(`${ending.length} of ${several(live, "key")} end within a week.`);
  if (chain.data && chain.data.broken > 0) {
    return (
      <Head bad title={`The audit log does not fit at entry ${count(chain.data.broken)}`}>
        {[`${s.head}.`, s.rest, ...others].join(" ")}
      </Head>
    );
  }
  if (ring.data && chain.data) others.push(ending.length > 0 ? "The audit log is whole." : "Keys and audit are in order.");
  return (
    <Head bad={s.bad} title={s.head}>
      {[s.rest, ...others].filter(Boolean).join(" ")}
    </Head>
  );
}
