// What the asker may do. A laptop names no powers: everything there is his. The server
// decides again with every request; this only keeps screens from offering what it refuses.
import { useQuery } from "@tanstack/react-query";
import { about } from "./queries.ts";
import type { About } from "./types.ts";

export interface Powers {
  /** Whether a power, the x-power of a route, is the asker's. While it is not known, it is taken to be. */
  may(power: string): boolean;
  /** Whether a server answers, and not the daemon of this machine. */
  server: boolean;
}

export function powersOf(a: About | undefined): Powers {
  return {
    may: (power) => !a?.powers || a.powers.includes(power),
    server: !!a?.namespace,
  };
}

export function usePowers(): Powers {
  return powersOf(useQuery(about).data);
}
