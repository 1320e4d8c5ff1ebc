// What the steps of a plan share: where one is, and a heading that takes the focus.
import { Fragment, useEffect, useRef, type ReactNode } from "react";
import { Icon } from "../../parts/Icon.tsx";

export function Steps({ at }: { at: 1 | 2 }) {
  const words = ["Review the plan", "Confirm"];
  return (
    <ol className="plan-steps" aria-label="Steps">
      {words.map((word, i) => (
        <Fragment key={word}>
          <li className={i + 1 === at ? "now" : ""} aria-current={i + 1 === at ? "step" : undefined}>
            <em>{i + 1 < at ? <Icon name="check" small /> : i + 1}</em>
            {word}
          </li>
        </Fragment>
      ))}
    </ol>
  );
}

/** Heading is focused when its step begins, so that it is read and tabbing starts there. */
export function Heading({ children, id, still }: { children: ReactNode; id?: string; still?: boolean }) {
  const self = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (!still) self.current?.focus({ preventScroll: true });
  }, [still]);
  return (
    <h1 className="plan-title" id={id} ref={self} tabIndex={-1}>
      {children}
    </h1>
  );
}

/** A digest as people read and say it: ab12-cd34. */
export const digestText = (digest: string): string => (digest.length < 8 ? digest : `${digest.slice(0, 4)}-${digest.slice(4, 8)}`);
