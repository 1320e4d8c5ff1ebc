// The addresses of the console. Every screen is a file of its own, loaded when it is
// first opened; what a screen shows is in its address, so that it can be sent.
import { createRootRoute, createRoute, createRouter, lazyRouteComponent } from "@tanstack/react-router";
import { Shell } from "./shell/Shell.tsx";
import { Empty, Wrong } from "./parts/states.tsx";

const root = createRootRoute({
  component: Shell,
  errorComponent: ({ error, reset }) => <Wrong error={error} again={reset} />,
  notFoundComponent: () => <Empty title="There is no such page" page>Look at the address, or go to the workspaces.</Empty>,
});

const text = (v: unknown): string | undefined => (typeof v === "string" && v !== "" ? v : typeof v === "number" ? String(v) : undefined);
const texts = (v: unknown): string[] | undefined => {
  const list = (Array.isArray(v) ? v : v === undefined ? [] : [v]).map(text).filter((s): s is string => s !== undefined);
  return list.length ? list : undefined;
};

const home = createRoute({ getParentRoute: () => root, path: "/", component: lazyRouteComponent(() => import("./screens/workspaces/Workspaces.tsx")) });

/** What of a timeline is shown: the chosen moment, a filter, a grouping, a span of time. */
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
  component: lazyRouteComponent(() => import("./screens/timeline/Timeline.tsx")),
});

/** A moment: the file that is open, how its diff is drawn, and which part is in front on a phone. */
export interface MomentSearch {
  path?: string;
  view?: string; // split, unified
  by?: string; // meaning, path
  part?: string;
}

const moment = createRoute({
  getParentRoute: () => root,
  path: "/w/$ws/m/$ref",
  validateSearch: (s: Record<string, unknown>): MomentSearch => ({ path: text(s.path), view: text(s.view), by: text(s.by), part: text(s.part) }),
  component: lazyRouteComponent(() => import("./screens/moment/Moment.tsx")),
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
  component: lazyRouteComponent(() => import("./screens/compare/Compare.tsx")),
});

const history = createRoute({
  getParentRoute: () => root,
  path: "/w/$ws/history",
  validateSearch: (s: Record<string, unknown>): { path?: string; at?: string } => ({ path: text(s.path), at: text(s.at) }),
  component: lazyRouteComponent(() => import("./screens/history/History.tsx")),
});

/** A plan is made of its address; applying it needs the two steps of the page. */
export interface PlanSearch {
  course?: string; // restore, undo, redo, adopt, finish, unwind
  ref?: string;
  paths?: string[];
  fork?: string;
}

const plan = createRoute({
  getParentRoute: () => root,
  path: "/w/$ws/plan",
  validateSearch: (s: Record<string, unknown>): PlanSearch => ({ course: text(s.course), ref: text(s.ref), paths: texts(s.paths), fork: text(s.fork) }),
  component: lazyRouteComponent(() => import("./screens/plan/Plan.tsx")),
});

const forks = createRoute({
  getParentRoute: () => root,
  path: "/w/$ws/forks",
  validateSearch: (s: Record<string, unknown>): { from?: string } => ({ from: text(s.from) }), // a moment to fork
  component: lazyRouteComponent(() => import("./screens/forks/Forks.tsx")),
});
const effects = createRoute({ getParentRoute: () => root, path: "/w/$ws/effects", component: lazyRouteComponent(() => import("./screens/effects/Effects.tsx")) });
const tasks = createRoute({ getParentRoute: () => root, path: "/w/$ws/tasks", component: lazyRouteComponent(() => import("./screens/tasks/Tasks.tsx")) });
const settings = createRoute({ getParentRoute: () => root, path: "/w/$ws/settings", component: lazyRouteComponent(() => import("./screens/settings/Settings.tsx")) });
const storage = createRoute({ getParentRoute: () => root, path: "/storage", component: lazyRouteComponent(() => import("./screens/storage/Storage.tsx")) });
const operations = createRoute({ getParentRoute: () => root, path: "/operations/$part", component: lazyRouteComponent(() => import("./screens/operations/Operations.tsx")) });

const tree = root.addChildren([home, timeline, moment, compare, history, plan, forks, effects, tasks, settings, storage, operations]);

export const router = createRouter({ routeTree: tree, defaultPreload: "intent", scrollRestoration: true });

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
