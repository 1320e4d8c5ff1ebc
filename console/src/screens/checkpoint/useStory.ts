// The story between two checkpoints. Reading what changes mean can take seconds when there
// are thousands; which paths differ is known sooner, and is shown meanwhile.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { storyOf } from "../../api/queries.ts";
import type { Change, Story } from "../../api/types.ts";
import { firstPath } from "./story.ts";
import { firstChanged } from "./tree.ts";
import { useChanges } from "./useChanges.ts";

export interface Told {
  story?: Story;
  error?: unknown;
  meanwhile?: Change[]; // the first of the paths, while the story is being read
  more?: boolean; // there are other paths
  first: string; // what is looked at when nothing was chosen: the worst fact, as soon as it is known
  again: () => void; // asks for the story once more
}

const patience = 300;

/** To is empty for now. Eager: there may be much, so the paths are asked for at once. */
export function useStory(ws: string, from: string, to: string, eager: boolean): Told {
  const [slow, setSlow] = useState(false);
  const paths = useChanges(ws, from, to, { enabled: eager || slow });
  const story = useQuery({ ...storyOf(ws, from, to), enabled: !eager || !paths.waits }); // after the first paths: it takes the server longer
  const waits = story.isPending;
  useEffect(() => {
    if (!waits) return;
    const t = setTimeout(() => setSlow(true), patience);
    return () => clearTimeout(t);
  }, [waits]);
  const failed = story.isLoadingError;
  const meanwhile = (waits || failed) && (slow || eager) ? paths.changes : undefined; // what failed is shown by path
  const first = story.data ? firstPath(story.data) : meanwhile ? firstChanged(meanwhile) : "";
  return { story: story.data, error: failed ? story.error : undefined, meanwhile, more: paths.more, first, again: () => void story.refetch() };
}
