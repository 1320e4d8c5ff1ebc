// The addresses of the console. Every screen is a file of its own, loaded when it is
// first opened; what it asks first is asked meanwhile. What a screen shows is in its
// address, so that it can be sent.
import type { QueryClient } from "@tanstack/react-query";
import { createRootRouteWithContext, createRoute, createRouter, Link } from "@tanstack/react-router";
import { namespace, spacePlan, usage } from "./api/office.ts";
import { effectsOf, forksOf, logOf, checkpointOf, statusOf, storyOf, tasksOf, workspaces } from "./api/queries.ts";
import { remotes } from "./api/remotes.ts";
import { bookOf } from "./screens/timeline/book.ts";
import { Shell } from "./shell/Shell.tsx";
import { Empty, Wrong } from "./parts/states.tsx";
import { screen } from "./shell/screen.tsx";

interface Asking {
  cache: QueryClient;
}

type Asked = Parameters<QueryClient["prefetchQuery"]>[0];

/** begin asks while the program of a screen is loaded. Nobody waits for it, what is wrong is told by the
 *  screen, and who only points at a link asks nothing. */
function begin({ context, preload }: { context: Asking; preload: boolean }, ...queries: unknown[]) {
  if (!preload) for (const q of queries) if (q) void context.cache.prefetchQuery(q as Asked);
}

function NoPage() {
  return (
    <Empty title="There is no such page" page>
      <p>Nothing of the console is at this address.</p>
      <p className="row">
        <Link className="button" to="/">
          All workspaces
        </Link>
      </p>
    </Empty>
  );
}

const root = createRootRouteWithContext<Asking>()({
  component: Shell,
  errorComponent: ({ error, reset }) => <Wrong error={error} again={reset} />,
  notFoundComponent: () => <NoPage />,
});

const text = (v: unknown): string | undefined => (typeof v === "string" && v !== "" ? v : typeof v === "number" ? String(v) : undefined);
const texts = (v: unknown): string[] | undefined => {
  const list = (Array.isArray(v) ? v : v === undefined ? [] : [v]).map(text).filter((s): s is string => s !== undefined);
  return list.length ? list : undefined;
};

const home = createRoute({ getParentRoute: () => root, path: "/", loader: (a) => begin(a, workspaces, spacePlan), component: screen(() => import("./screens/workspaces/Workspaces.tsx")) });

/** What of a timeline is shown: the chosen checkpoint, a filter, a grouping, a span of time. */
export interface TimelineSearch {
  at?: string;
  show?: string; // good, failed, risky, flagged
  path?: string;
  package?: string;
  session?: string;
  agent?: string;
  group?: string; // task, session
  zoom?: string; // hour, day, week, month, year
  left?: string; // "folded": lines left behind are one row
}

const timeline = createRoute({
  getParentRoute: () => root,
  path: "/w/$ws",
  validateSearch: (s: Record<string, unknown>): TimelineSearch => ({
    at: text(s.at), show: text(s.show), path: text(s.path), package: text(s.package), session: text(s.session), agent: text(s.agent),
    group: text(s.group), zoom: text(s.zoom), left: text(s.left),
  }),
  loader: (a) => {
    begin(a, statusOf(a.params.ws));
    if (!a.preload) bookOf(a.context.cache, a.params.ws).open();
  },
  component: screen(() => import("./screens/timeline/Timeline.tsx")),
});

/** A checkpoint: the file that is open, how its diff is drawn, and which part is in front on a phone. */
export interface CheckpointSearch {
  path?: string;
  view?: string; // split, unified
  by?: string; // meaning, path
  part?: string;
}

const checkpoint = createRoute({
  getParentRoute: () => root,
  path: "/w/$ws/m/$ref",
  validateSearch: (s: Record<string, unknown>): CheckpointSearch => ({ path: text(s.path), view: text(s.view), by: text(s.by), part: text(s.part) }),
  loader: (a) => begin(a, checkpointOf(a.params.ws, a.params.ref), /^\d+$/.test(a.params.ref) && storyOf(a.params.ws, "", a.params.ref)),
  component: screen(() => import("./screens/checkpoint/Checkpoint.tsx")),
});

export interface CompareSearch {
  from?: string;
  to?: string; // none: now
  path?: string;
  view?: string;
}

const compare = createRoute({
  getParentRoute: () => root,
  path: "/w/$ws/compare",
  validateSearch: (s: Record<string, unknown>): CompareSearch => ({ from: text(s.from), to: text(s.to), path: text(s.path), view: text(s.view) }),
  component: screen(() => import("./screens/compare/Compare.tsx")),
});

const history = createRoute({
  getParentRoute: () => root,
  path: "/w/$ws/history",
  validateSearch: (s: Record<string, unknown>): { path?: string; at?: string } => ({ path: text(s.path), at: text(s.at) }),
  loaderDeps: ({ search }) => ({ path: search.path?.replace(/\/$/, "") }),
  loader: (a) => begin(a, a.deps.path && logOf(a.params.ws, { path: a.deps.path })),
  component: screen(() => import("./screens/history/History.tsx")),
});

/** A plan is made of its address; applying it needs the two steps of the page. */
export interface PlanSearch {
  course?: string; // restore, undo, redo, adopt, finish, unwind
  ref?: string;
  paths?: string[];
  fork?: string;
  hunks?: string[]; // of the one path, as old_start,old_lines,new_start,new_lines
  from?: string; // what they were compared with
}

const plan = createRoute({
  getParentRoute: () => root,
  path: "/w/$ws/plan",
  validateSearch: (s: Record<string, unknown>): PlanSearch => ({ course: text(s.course), ref: text(s.ref), paths: texts(s.paths), fork: text(s.fork), hunks: texts(s.hunks), from: text(s.from) }),
  component: screen(() => import("./screens/plan/Plan.tsx")),
});

const forks = createRoute({
  getParentRoute: () => root,
  path: "/w/$ws/forks",
  validateSearch: (s: Record<string, unknown>): { from?: string } => ({ from: text(s.from) }), // a checkpoint to fork
  loader: (a) => begin(a, forksOf(a.params.ws)),
  component: screen(() => import("./screens/forks/Forks.tsx")),
});
const effects = createRoute({ getParentRoute: () => root, path: "/w/$ws/effects", loader: (a) => begin(a, effectsOf(a.params.ws)), component: screen(() => import("./screens/effects/Effects.tsx")) });
const tasks = createRoute({ getParentRoute: () => root, path: "/w/$ws/tasks", loader: (a) => begin(a, tasksOf(a.params.ws)), component: screen(() => import("./screens/tasks/Tasks.tsx")) });
const settings = createRoute({ getParentRoute: () => root, path: "/w/$ws/settings", loader: (a) => begin(a, statusOf(a.params.ws), spacePlan), component: screen(() => import("./screens/settings/Settings.tsx")) });
const storage = createRoute({ getParentRoute: () => root, path: "/storage", loader: (a) => begin(a, spacePlan), component: screen(() => import("./screens/storage/Storage.tsx")) });
const remotesPage = createRoute({ getParentRoute: () => root, path: "/remotes", loader: (a) => begin(a, workspaces, remotes), component: screen(() => import("./screens/remotes/Remotes.tsx")) });
const operations = createRoute({ getParentRoute: () => root, path: "/operations/$part", loader: (a) => begin(a, namespace, usage), component: screen(() => import("./screens/operations/Operations.tsx")) });

const tree = root.addChildren([home, timeline, checkpoint, compare, history, plan, forks, effects, tasks, settings, storage, remotesPage, operations]);

export const router = createRouter({ routeTree: tree, context: { cache: undefined! }, defaultPreload: "intent", scrollRestoration: true });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
