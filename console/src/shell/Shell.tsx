// The frame of every screen: the top bar, what must not be overlooked, and the page.
import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useLocation, useNavigate, useParams } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import { usePowers } from "../api/powers.ts";
import { about, effectsOf, forksOf, statusOf, tasksOf, workspaces } from "../api/queries.ts";
import { useLive, useLiveness, livenessSince } from "../api/live.ts";
import { Icon } from "../parts/Icon.tsx";
import { shown } from "../words/escape.ts";
import { count, several } from "../words/number.ts";
import { hour } from "../words/time.ts";
import { Find } from "./Find.tsx";
import { KeyPage } from "./KeyPage.tsx";
import { useKeys } from "./keys.ts";
import { loadScreens } from "./screen.tsx";
import { turnTheme, useTheme } from "./theme.ts";
import "./shell.css";

export function Shell() {
  useLive();
  const { ws } = useParams({ strict: false });
  const [keys, setKeys] = useState(false);
  useKeys({ "?": () => setKeys(true) });
  useEffect(() => {
    const idle = window.requestIdleCallback ?? ((f: () => void) => setTimeout(f, 1500));
    idle(() => void loadScreens());
  }, []);
  return (
    <div className="shell">
      <a className="skip" href="#page">
        To the page
      </a>
      <header className="top">
        <Link to="/" className="brand" aria-label="Retake, all workspaces">
          <Mark />
          <span>Retake</span>
        </Link>
        {ws ? <Switcher ws={ws} /> : null}
        {ws ? <Tabs ws={ws} /> : <ServerTabs />}
        <div className="grow" />
        <Live />
        <Find ws={ws} />
        <ThemeButton />
      </header>
      <Away />
      {ws ? <Unfinished ws={ws} /> : null}
      <main id="page" tabIndex={-1}>
        <Outlet />
      </main>
      <BottomBar ws={ws} />
      {keys ? <KeyPage close={() => setKeys(false)} /> : null}
    </div>
  );
}

function Mark() {
  return (
    <svg viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth="1.8" strokeLinecap="round" strokeLinejoin="round" aria-hidden="true">
      <path d="M3.5 6.2A7.5 7.5 0 1 1 2.5 10" />
      <path d="M3 2.8v3.6h3.6" />
      <circle cx="10" cy="10" r="2" fill="currentColor" stroke="none" />
    </svg>
  );
}

function Switcher({ ws }: { ws: string }) {
  const all = useQuery(workspaces);
  const go = useNavigate();
  const known = (all.data ?? []).filter((w) => !w.ended || w.id === ws);
  return (
    <label className="switcher">
      <span className="sr">Workspace</span>
      <span className="slash" aria-hidden="true">
        /
      </span>
      <select value={ws} onChange={(e) => void go({ to: "/w/$ws", params: { ws: e.target.value } })}>
        {known.some((w) => w.id === ws) ? null : <option value={ws}>{all.data ? "not known here" : "…"}</option>}
        {known.map((w) => (
          <option key={w.id} value={w.id}>
            {shown(w.name)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Tabs({ ws }: { ws: string }) {
  const forks = useQuery(forksOf(ws));
  const effects = useQuery(effectsOf(ws));
  const tasks = useQuery(tasksOf(ws));
  const within = useWithin();
  const live = (forks.data ?? []).filter((f) => !f.ended).length;
  const done = (tasks.data ?? []).filter((t) => t.status === "completed").length;
  return (
    <nav className="tabs" aria-label="Workspace">
      <Tab to="/w/$ws" ws={ws} exact text="Timeline" within={within} />
      <Tab to="/w/$ws/compare" ws={ws} text="Compare" />
      <Tab to="/w/$ws/forks" ws={ws} text="Forks" count={live ? String(live) : ""} />
      <Tab to="/w/$ws/effects" ws={ws} text="External actions" count={effects.data?.length ? String(effects.data.length) : ""} />
      <Tab to="/w/$ws/tasks" ws={ws} text="Tasks" count={tasks.data?.length ? `${done}/${tasks.data.length}` : ""} />
      <Tab to="/w/$ws/settings" ws={ws} text="Settings" />
    </nav>
  );
}

/** Whether a screen is open that one comes to from the timeline: a checkpoint, a file through time, a plan. */
const useWithin = () => useLocation({ select: (l) => /^\/w\/[^/]+\/(m\/|history|plan)/.test(l.pathname) });

function Tab(p: { to: string; ws: string; text: string; count?: string; exact?: boolean; within?: boolean }) {
  return (
    <Link to={p.to as never} params={{ ws: p.ws } as never} activeOptions={{ exact: p.exact, includeSearch: false }} activeProps={{ "aria-current": "page" }} aria-current={p.within ? "true" : undefined}>
      {p.text}
      {p.count ? <span className="count">{p.count}</span> : null}
    </Link>
  );
}

function ServerTabs() {
  return (
    <nav className="tabs" aria-label="Retake">
      <ServerLinks />
    </nav>
  );
}

/** What there is beside workspaces; a laptop has no operations, a server no remotes. */
function ServerLinks() {
  const me = useQuery(about);
  const operating = useLocation({ select: (l) => l.pathname.startsWith("/operations/") });
  return (
    <>
      <Link to="/" activeOptions={{ exact: true }} activeProps={{ "aria-current": "page" }}>
        Workspaces
      </Link>
      <Link to="/storage" activeProps={{ "aria-current": "page" }}>
        Storage
      </Link>
      {me.data && !me.data.namespace ? (
        <Link to="/remotes" activeProps={{ "aria-current": "page" }}>
          Remotes
        </Link>
      ) : null}
      {me.data?.namespace ? (
        <Link to="/operations/$part" params={{ part: "hooks" }} aria-current={operating ? "page" : undefined}>
          Operations
        </Link>
      ) : null}
    </>
  );
}

/** On a phone the tabs stand below, where the thumb is. */
function BottomBar({ ws }: { ws?: string }) {
  const within = useWithin();
  if (!ws) {
    return (
      <nav className="bottom" aria-label="Retake, below">
        <ServerLinks />
      </nav>
    );
  }
  return (
    <nav className="bottom" aria-label="Workspace, below">
      <Link to="/w/$ws" params={{ ws }} activeOptions={{ exact: true, includeSearch: false }} activeProps={{ "aria-current": "page" }} aria-current={within ? "true" : undefined}>
        Timeline
      </Link>
      <Link to="/w/$ws/forks" params={{ ws }} activeProps={{ "aria-current": "page" }}>
        Forks
      </Link>
      <Link to="/w/$ws/effects" params={{ ws }} activeProps={{ "aria-current": "page" }}>
        External actions
      </Link>
      <Link to="/w/$ws/tasks" params={{ ws }} activeProps={{ "aria-current": "page" }}>
        Tasks
      </Link>
      <Link to="/w/$ws/settings" params={{ ws }} activeProps={{ "aria-current": "page" }}>
        Settings
      </Link>
    </nav>
  );
}

function Live() {
  const state = useLiveness();
  const words = { waiting: "connecting", live: "live", away: `away, as of ${hour(new Date(livenessSince()))}` }[state];
  return (
    <span className={`live ${state}`} role="status">
      <i aria-hidden="true" />
      <span>{words}</span>
    </span>
  );
}

/** Silence of less than this is not told, ms: a daemon is replaced by a younger one in it. */
const short = 3000;

/** Who no longer answers is told on every screen, with the way back. */
function Away() {
  const away = useLiveness() === "away";
  const { server } = usePowers();
  const [long, setLong] = useState(false);
  useEffect(() => {
    setLong(false);
    const t = away ? setTimeout(() => setLong(true), short) : undefined;
    return () => clearTimeout(t);
  }, [away]);
  if (!away || !long) return null;
  const since = hour(new Date(livenessSince()));
  return (
    <div className="strip" role="status">
      <Icon name="clock" />
      <span className="grow">
        <b>{server ? "The server" : "Retake"} has not answered since {since}.</b> What you see is from then. We try again
        {server ? "." : (
          <>
            ; if its daemon ended, <code className="mono">retake console</code> opens a new page.
          </>
        )}
      </span>
    </div>
  );
}

function ThemeButton() {
  const theme = useTheme();
  return (
    <button type="button" className="icon-button" aria-label={theme === "dark" ? "Light colours" : "Dark colours"} onClick={turnTheme}>
      <Icon name="sun" />
    </button>
  );
}

/** A restore that was interrupted is told on every screen. */
function Unfinished({ ws }: { ws: string }) {
  const status = useQuery(statusOf(ws));
  const cut = status.data?.workspace.interrupted;
  if (cut) {
    return (
      <div className="strip" role="alert">
        <Icon name="warn" />
        <span className="grow">
          <b>A restore of {cut.target} was interrupted</b> at {count(cut.done)} of {several(cut.total, "path")}. Nothing is lost: checkpoint {cut.safety} holds all there was.
        </span>
        <Link className="button" to="/w/$ws/plan" params={{ ws }} search={{ course: "finish" }}>
          Finish it…
        </Link>
        <Link className="button" to="/w/$ws/plan" params={{ ws }} search={{ course: "unwind" }}>
          Take it back…
        </Link>
      </div>
    );
  }
  return null;
}
