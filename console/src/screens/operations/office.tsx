// What every part of operations knows: who asks, the namespace, what it takes, and the
// names of workspaces. It is asked for once, around all of them.
import { useQuery } from "@tanstack/react-query";
import { createContext, useContext, useMemo, type ReactNode } from "react";
import { namespace } from "../../api/office.ts";
import { powersOf, type Powers } from "../../api/powers.ts";
import { about, workspaces } from "../../api/queries.ts";
import type { About, Namespace, Usage, WorkspaceState } from "../../api/types.ts";
import { Waiting, Wrong } from "../../parts/states.tsx";
import { Closed, useUsage } from "./frame.tsx";
import { namesOf, type Names } from "./words.ts";

/** What was asked, as far as a page has to know. */
export interface Asked<T> {
  data?: T;
  isLoadingError: boolean;
  error: unknown;
  refetch: () => unknown;
}

export interface Office {
  me: About;
  may: Powers["may"];
  namespace: Asked<Namespace>;
  usage: Asked<Usage>;
  workspaces: Asked<WorkspaceState[]>;
  names: Names; // of workspaces, by id
  live: WorkspaceState[]; // workspaces that have not ended
}

const Here = createContext<Office | undefined>(undefined);

/** Who answers as a server gets its operations; beside says it of a laptop. */
export function Operating({ beside, children }: { beside: ReactNode; children: ReactNode }) {
  const me = useQuery(about);
  if (me.isLoadingError) return <Wrong error={me.error} again={() => void me.refetch()} />;
  if (!me.data) return <Waiting what="who answers" />;
  return me.data.namespace ? <Asking me={me.data}>{children}</Asking> : beside;
}

function Asking({ me, children }: { me: About; children: ReactNode }) {
  const ns = useQuery(namespace);
  const usage = useUsage();
  const all = useQuery(workspaces);
  const names = useMemo(() => namesOf(all.data ?? []), [all.data]);
  const live = useMemo(() => (all.data ?? []).filter((w) => !w.ended), [all.data]);
  return <Here.Provider value={{ me, may: powersOf(me).may, namespace: ns, usage, workspaces: all, names, live }}>{children}</Here.Provider>;
}

export function useOffice(): Office {
  const office = useContext(Here);
  if (!office) throw new Error("useOffice outside of operations");
  return office;
}

interface PartProps<T> {
  needs?: string; // a power; a key without it is told which kind has it
  closed?: string; // the title then
  asked: Asked<T>;
  what: string; // that is being read
  children: (data: T) => ReactNode;
}

/** Part is a page of operations: closed, waiting, wrong, or what it tells. */
export function Part<T>({ needs, closed = "", asked, what, children }: PartProps<T>) {
  const { may } = useOffice();
  if (needs && !may(needs)) return <Closed power={needs} title={closed} />;
  if (asked.isLoadingError) return <Wrong error={asked.error} again={() => void asked.refetch()} />;
  if (asked.data === undefined) return <Waiting what={what} />;
  return children(asked.data);
}
