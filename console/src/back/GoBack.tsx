// The ways back from a diff: one button for each side that the files are not like now.
// The plan behind a button is asked for first, so that its label can say what it does.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Trouble } from "../api/ask.ts";
import { planBefore } from "../api/queries.ts";
import { usePowers } from "../api/powers.ts";
import { Icon } from "../parts/Icon.tsx";
import { backLabel } from "./label.ts";

export interface GoBackProps {
  ws: string;
  paths: readonly string[];
  refs: readonly string[]; // the checkpoints to go to, the earlier one first
}

export function GoBack({ ws, paths, refs }: GoBackProps) {
  const { may } = usePowers();
  if (!may("return")) return null;
  return refs.map((ref, i) => <Way key={ref} ws={ws} paths={paths} at={ref} first={i === 0} />);
}

function Way({ ws, paths, at, first }: { ws: string; paths: readonly string[]; at: string; first: boolean }) {
  const plan = useQuery(planBefore(ws, { course: "restore", ref: at, paths: [...paths] }));
  if (plan.isPending && !first) return null; // mostly there is one way
  if (plan.isPending) return <span className="button bare-bar" role="status" aria-label={`Looking what going back to ${at} would change`} />;
  if (plan.error instanceof Trouble && plan.error.status === 404) return null; // it is neither there nor here
  const label = plan.data ? backLabel(plan.data, at) : `Plan it as in ${at}…`; // the plan says why there is none
  if (label === "") return null;
  return (
    <Link className="button" to="/w/$ws/plan" params={{ ws }} search={{ course: "restore", ref: at, paths: [...paths] }}>
      <Icon name="back" small />
      {label}
    </Link>
  );
}
