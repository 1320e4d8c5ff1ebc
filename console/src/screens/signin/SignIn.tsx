// Who is not known here: a server asks for a key, a laptop for the command that opens
// the page. The key goes to the server once, and comes back as a cookie that no script
// can read.
import { useState } from "react";
import { send, Trouble } from "../../api/ask.ts";
import { shown } from "../../words/escape.ts";

export function SignIn() {
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const enter = async (e: React.FormEvent<HTMLFormElement>) => {
    e.preventDefault();
    const key = String(new FormData(e.currentTarget).get("key") ?? "").trim();
    setBusy(true);
    try {
      await send("POST", "/console/enter", { body: { key } });
      location.reload();
    } catch (err) {
      setWrong(err instanceof Trouble ? err.message : String(err));
      setBusy(false);
    }
  };
  return (
    <main className="page">
      <section className="card note">
        <h1 className="answer">Sign in with an API key</h1>
        <p>
          On your own machine, close this page and run <code className="mono">retake console</code>: it opens a page that knows you. On a server, a key
          lets you in; what you may do is what the key may do.
        </p>
        <form onSubmit={(e) => void enter(e)} className="signin">
          <label className="field">
            <span className="label">Key</span>
            <input className="text mono" name="key" type="password" autoComplete="current-password" placeholder="rtk_reader_…" required />
          </label>
          <p role="alert" className="bad">
            {shown(wrong)}
          </p>
          <button className="button primary" type="submit" disabled={busy}>
            Enter
          </button>
        </form>
      </section>
    </main>
  );
}
