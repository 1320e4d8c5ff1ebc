// Operations of a server: a menu of parts, each opening with the sentence that is its answer.
import { Link, useParams } from "@tanstack/react-router";
import { useEffect, useRef, type ReactNode } from "react";
import { shown } from "../../words/escape.ts";
import { Backup } from "./Backup.tsx";
import { Deletions } from "./Deletions.tsx";
import { Head } from "./frame.tsx";
import { Hooks } from "./hooks/Hooks.tsx";
import { Limits } from "./Limits.tsx";
import { Namespace } from "./Namespace.tsx";
import { Operating, useOffice } from "./office.tsx";
import { Retention } from "./Retention.tsx";
import { Schedules } from "./Schedules.tsx";
import { useTroubles } from "./troubles.ts";
import "./operations.css";

const parts: Record<string, { text: string; page: () => ReactNode }> = {
  hooks: { text: "Hooks, keys, audit", page: () => <Hooks /> },
  retention: { text: "Retention", page: () => <Retention /> },
  schedules: { text: "Schedules", page: () => <Schedules /> },
  backup: { text: "Git backup", page: () => <Backup /> },
  limits: { text: "Limits", page: () => <Limits /> },
  deletions: { text: "Deletions", page: () => <Deletions /> },
  namespace: { text: "Namespace", page: () => <Namespace /> },
};

export default function Operations() {
  const { part } = useParams({ strict: false });
  const shownPart = parts[part ?? "hooks"];
  return (
    <Operating beside={<OwnMachine />}>
      <div className="ops">
        <Menu />
        <div className="ops-page">
          {shownPart ? <div key={part}>{shownPart.page()}</div> : <Head title="There is no such part">Choose one of the menu.</Head>}
        </div>
      </div>
    </Operating>
  );
}

function OwnMachine() {
  return (
    <div className="page">
      <Head title="This is your own machine">
        Webhooks, keys, schedules and limits belong to the server of a team: <code className="mono">retake serve</code>. What your checkpoints take is in{" "}
        <Link to="/storage" className="link ops-under">
          Storage
        </Link>
        .
      </Head>
    </div>
  );
}

function Menu() {
  const ns = useOffice().namespace;
  const troubles = useTroubles();
  const { part } = useParams({ strict: false });
  const menu = useRef<HTMLElement>(null);
  // On a phone the menu is a row that scrolls: what is open stays in sight.
  useEffect(() => {
    menu.current?.querySelector("[aria-current]")?.scrollIntoView({ inline: "center", block: "nearest" });
  }, [part]);
  return (
    <nav ref={menu} className="ops-menu" aria-label="Operations">
      <p className="ops-ns cut" title="the namespace of your key">
        {ns.data ? shown(ns.data.id) : "…"}
      </p>
      <p className="label">Operations</p>
      {["hooks", "retention", "schedules", "backup", "limits", "deletions"].map((p) => (
        <Item key={p} part={p} count={troubles[p]} />
      ))}
      <p className="label">Server</p>
      <Item part="namespace" />
      <Link to="/storage">Storage</Link>
    </nav>
  );
}

function Item({ part, count }: { part: string; count?: { n: number; bad: boolean; words: string } }) {
  return (
    <Link to="/operations/$part" params={{ part }} activeProps={{ "aria-current": "page" }}>
      {parts[part]!.text}
      {count && count.n > 0 ? (
        <span className={count.bad ? "ops-count bad" : "ops-count"} title={count.words}>
          {count.n}
          <span className="sr"> {count.words}</span>
        </span>
      ) : null}
    </Link>
  );
}
