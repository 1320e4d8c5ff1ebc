// New checkpoints: those that came while somebody reads further down are counted, and told at
// most once in five seconds to who does not see.
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { several } from "../../words/number.ts";

const quietFor = 5000;

export interface News {
  unseen: number; // how many came while the list was not at its top
  slid: number; // checkpoints above this number slide in
  said: string;
}

export function useNews(newest: number, atTop: boolean): News {
  const [seen, setSeen] = useState(newest);
  const [slid, setSlid] = useState(Infinity);
  const before = useRef(newest);
  const [said, setSaid] = useState("");
  const told = useRef({ number: newest, at: 0 });
  useEffect(() => {
    if (atTop) setSeen(newest);
  }, [atTop, newest]);
  useLayoutEffect(() => {
    if (newest <= before.current) return;
    setSlid(before.current);
    before.current = newest;
    const timer = setTimeout(() => setSlid(Infinity), 400);
    return () => clearTimeout(timer);
  }, [newest]);
  useEffect(() => {
    const t = told.current;
    if (newest <= t.number) return;
    const wait = Math.max(0, t.at + quietFor - Date.now());
    const timer = setTimeout(() => {
      setSaid(`${several(newest - t.number, "new checkpoint")}, the newest is ${newest}`);
      told.current = { number: newest, at: Date.now() };
    }, wait);
    return () => clearTimeout(timer);
  }, [newest]);
  return { unseen: Math.max(0, newest - seen), slid, said };
}
