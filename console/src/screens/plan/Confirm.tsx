// Step 2: one question with the numbers. Nothing is filled but the deed itself, and the
// focus is on the way back.
import { useEffect, useRef } from "react";
import type { ViewedPlan } from "../../api/types.ts";
import { Icon } from "../../parts/Icon.tsx";
import { oneLine, shown } from "../../words/escape.ts";
import { count, several, someNames } from "../../words/number.ts";
import type { Progress } from "./apply.ts";
import { useStanding } from "./Review.tsx";
import { digestText, Heading, Steps } from "./Frame.tsx";

export function Confirm({ viewed: { plan, view }, back, apply }: { viewed: ViewedPlan; back: () => void; apply: () => void }) {
  const way = useRef<HTMLButtonElement>(null);
  useEffect(() => way.current?.focus(), []);
  const bad = useStanding(plan) === "failed";
  const style = view.counts.deleted === 0 ? "button" : bad ? "button plan-outline" : "button danger";
  return (
    <div className="plan-ask-page">
      <Steps at={2} />
      <Heading id="plan-question" still>
        {shown(view.question)}
      </Heading>
      <p className="plan-sub">The plan is checked once more against the disk before the first write. If anything moved, nothing happens.</p>
      <ul className="plan-list">
        <li>
          <Icon name="shield" />
          <span>
            {plan.safety.there ? (
              <>
                <b>Checkpoint {plan.safety.number}</b> has everything you have now.
              </>
            ) : (
              <>
                All you have now becomes <b>checkpoint {plan.safety.number}</b> first.
                <span className="more">If that cannot be saved whole, nothing is done.</span>
              </>
            )}
          </span>
        </li>
        <li>
          <Icon name="back" />
          <span>{wayBack(plan.course)}</span>
        </li>
        {plan.effects.length > 0 ? (
          <li>
            <Icon name="out" />
            <span>
              Can't be undone: {someNames(plan.effects.map((e) => `${shown(e.id)} ${oneLine(e.text)}`), 4)}.
            </span>
          </li>
        ) : null}
        {plan.holders.length > 0 ? (
          <li>
            <Icon name="machine" />
            <span>{several(new Set(plan.holders.map((h) => h.pid)).size, "program")} keep the old files until they are restarted.</span>
          </li>
        ) : null}
      </ul>
      <div className="plan-buttons">
        <span className="dimmer grow">
          Plan <span className="mono">{digestText(plan.digest)}</span>
        </span>
        <button type="button" className="button" ref={way} aria-describedby="plan-question" onClick={back}>
          Back to the plan
        </button>
        <button type="button" className={style} onClick={apply}>
          {shown(view.apply)}
        </button>
      </div>
    </div>
  );
}

function wayBack(course: string): string {
  if (course === "unwind") return "Nothing is lost, also after a crash half way: it can be taken up again.";
  return course === "undo" ? "Redo brings every byte again, also after a crash half way." : "Undo brings every byte back, also after a crash half way.";
}

/** While it is done: how far it is, by counts. */
export function Applying({ doing, progress }: { doing: string; progress?: Progress }) {
  const total = progress?.total ?? 0;
  return (
    <div className="plan-ask-page">
      <Heading>{shown(doing)}</Heading>
      <p className="plan-sub">It goes to its end, also when this page is closed.</p>
      <div className="plan-progress">
        <progress max={total || 1} value={total ? progress!.files : 0} aria-label="Done so far" />
        <p className="num">
          {!progress ? "Keeping what you have, and checking the plan once more." : total ? `${count(progress.files)} of ${several(total, "path")}` : `${several(progress.files, "path")} so far`}
        </p>
      </div>
    </div>
  );
}
