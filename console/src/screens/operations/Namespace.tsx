// The namespace of the key: nothing of another can be seen from here.
import { Link } from "@tanstack/react-router";
import type { Namespace as Known } from "../../api/types.ts";
import { Copy } from "../../parts/Copy.tsx";
import { shown } from "../../words/escape.ts";
import { bytes, several } from "../../words/number.ts";
import { ago, date, whole } from "../../words/time.ts";
import { Head } from "./frame.tsx";
import { Part, useOffice } from "./office.tsx";
import { nameOf } from "./words.ts";

export function Namespace() {
  const { namespace } = useOffice();
  return (
    <Part asked={namespace} what="the namespace">
      {(n) => <Told n={n} />}
    </Part>
  );
}

function Told({ n }: { n: Known }) {
  const { me, usage, names } = useOffice();
  return (
    <>
      <Head title={n.ended ? `${shown(n.id)} is closed: its keys no longer work` : `This is ${shown(n.id)}, since ${date(new Date(n.created))}`} bad={!!n.ended}>
        {usage.data ? `It has ${several(usage.data.workspaces, "workspace")} and ${several(usage.data.checkpoints, "checkpoint")}, in ${bytes(usage.data.bytes)}. ` : ""}
        Nothing of another namespace can be seen from here.
      </Head>
      <section className="card ops-card ops-slim" aria-label="The namespace">
        <dl className="ops-facts">
          <div>
            <dt>Name</dt>
            <dd>
              <b>{shown(n.id)}</b>
            </dd>
          </div>
          <div>
            <dt>Since</dt>
            <dd>{whole(n.created)}</dd>
          </div>
          <div>
            <dt>Default workspace</dt>
            <dd>
              <Link className="link" to="/w/$ws" params={{ ws: n.default }}>
                {nameOf(names, n.default)}
              </Link>
              <span className="dimmer"> for who names none</span>
            </dd>
          </div>
          <div>
            <dt>Roots</dt>
            <dd>
              {n.roots.length === 0 ? <span className="dim">its own directory only</span> : null}
              {n.roots.map((r) => (
                <span key={r} className="mono ops-line">
                  {shown(r)}
                </span>
              ))}
            </dd>
          </div>
          <div>
            <dt>Server</dt>
            <dd>{`version ${shown(me.version)}, started ${ago(me.started)}`}</dd>
          </div>
        </dl>
      </section>
      <Others id={n.id} />
    </>
  );
}

/** A key is of one namespace; the others are for who runs the server. */
function Others({ id }: { id: string }) {
  return (
    <section className="card ops-card ops-slim" aria-labelledby="others-title">
      <header>
        <h2 id="others-title">Other namespaces</h2>
      </header>
      <div className="ops-note">
        <p>A key belongs to one namespace, so no key lists or makes others. That is for who runs the server, on its machine:</p>
        <Copy text="retake admin namespaces --data DIR" />
        <Copy text="retake admin add NAME --data DIR" />
        <Copy text={`retake admin roots ${id} DIR… --data DIR`} />
      </div>
    </section>
  );
}
