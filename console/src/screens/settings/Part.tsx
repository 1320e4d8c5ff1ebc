import type { ReactNode } from "react";
import { Copy } from "../../parts/Copy.tsx";

/** Part is one group of settings with the commands that change it. */
export function Part({ title, aside, children, commands }: { title: string; aside?: ReactNode; children: ReactNode; commands?: [string, string][] }) {
  const id = `settings-${title.toLowerCase().replaceAll(" ", "-")}`;
  return (
    <section className="card settings-part" aria-labelledby={id}>
      <header>
        <h2 id={id}>{title}</h2>
        <span className="grow" />
        {aside}
      </header>
      <div className="body">{children}</div>
      {(commands ?? []).map(([what, text]) => (
        <div className="command" key={what}>
          <span className="label">{what}</span>
          <Copy text={text} label={`Copy: ${what}`} />
        </div>
      ))}
    </section>
  );
}
