// All checkpoints of a workspace that were read so far, newest first. The first page is shown
// at once, older ones are read behind it, page by page; what is new comes by live events.
// A book outlives its screen, so that who comes back finds what was there.
import type { QueryClient } from "@tanstack/react-query";
import { Trouble } from "../../api/ask.ts";
import { logOf, pageSize } from "../../api/queries.ts";
import type { Checkpoint, Event, Finding, Pin, Timeline, Workspace } from "../../api/types.ts";
import { merge } from "./merge.ts";
import { Untold, untoldOf } from "./untold.ts";

/** More are not read here. */
export const mostCheckpoints = 20_000;

/** What a book holds, as of one publication. It is never changed. */
export interface Read {
  checkpoints: readonly Checkpoint[];
  findings: ReadonlyMap<string, Finding>;
  pins: readonly Pin[];
  workspace: Workspace;
  good?: Checkpoint;
  total: number;
  done: boolean; // nothing older is to be read
}

export interface BookState {
  read?: Read;
  trouble?: unknown; // why nothing, or nothing older, could be read
}

const justNow = 1000; // ms
const soon = 250; // ms; events come in bursts
const retries = [1000, 3000, 10_000];

export class Book {
  private state: BookState = {};
  private checkpoints: readonly Checkpoint[] = [];
  private readonly findings = new Map<string, Finding>();
  private last?: Timeline; // the newest page
  private published = 0;
  private reading?: Promise<void>;
  private timer?: ReturnType<typeof setTimeout>;
  private behind = false; // something happened since the newest page was read
  private thinned = false; // checkpoints were forgotten
  private stale = new Set<number>(); // checkpoints below the first page that changed
  private readonly watchers = new Set<() => void>();
  private begun = 0; // when it was last read from its top
  private first = Infinity; // the newest checkpoint when the book was opened
  private readonly untold = new Untold((numbers) => void this.readTold(numbers));

  constructor(
    private readonly cache: QueryClient,
    readonly ws: string,
  ) {}

  watch = (w: () => void) => {
    this.watchers.add(w);
    return () => void this.watchers.delete(w);
  };

  present = (): BookState => this.state;

  /** open begins, unless that was done just now: by the address, before the screen is there. */
  open = () => {
    if (!this.reading && Date.now() - this.begun > justNow) this.begin();
  };

  /** begin reads what is new and what is not read yet. */
  begin = () => {
    this.begun = Date.now();
    this.behind = true;
    this.reading ??= this.read().finally(() => (this.reading = undefined));
  };

  /** heard takes an event of the workspace. */
  heard = (e: Event) => {
    if (e.data.workspace !== this.ws) return;
    if (e.data.number !== undefined) this.stale.add(e.data.number);
    if (e.type === "checkpoint.expired" || e.type === "retention.ran") this.thinned = true;
    clearTimeout(this.timer);
    this.timer = setTimeout(this.begin, soon);
  };

  private async page(before?: number, limit = pageSize): Promise<Timeline> {
    return this.cache.fetchQuery({ ...logOf(this.ws, { before, limit }), staleTime: 0, gcTime: 0 });
  }

  private async read() {
    try {
      while (this.behind) {
        this.behind = false;
        await this.readNewest();
        await this.readStale();
        if (this.thinned) await this.readAgain();
        await this.readOlder();
      }
      this.publish(true);
      this.first = Math.min(this.first, this.checkpoints[0]?.number ?? 0);
      this.expectStories();
    } catch (e) {
      this.state = { read: this.state.read, trouble: e };
      this.tell();
    }
  }

  private async readNewest() {
    const top = this.checkpoints[0]?.number;
    const t = await this.page();
    const page = t.checkpoints ?? [];
    this.take(t);
    this.last = t;
    const gap = top !== undefined && page.length === pageSize && page[page.length - 1]!.number > top;
    this.checkpoints = merge(gap ? [] : this.checkpoints, page, true);
    this.publish(false);
  }

  /** Anything may be gone: all of it is read once more, and what was there stays until then. */
  private async readAgain() {
    this.thinned = false;
    const kept = [...(this.last?.checkpoints ?? [])];
    for (let page = kept; page.length === pageSize && kept.length < mostCheckpoints; ) {
      const t = await this.page(page[page.length - 1]!.number);
      this.take(t);
      page = t.checkpoints ?? [];
      kept.push(...page);
    }
    this.checkpoints = kept;
    this.publish(false);
  }

  /** Checkpoints further down whose verifications changed. */
  private async readStale() {
    const first = this.last?.checkpoints?.at(-1)?.number ?? 0;
    const old = [...this.stale].filter((n) => n < first).slice(0, 20);
    this.stale.clear();
    for (const n of old) this.take(await this.page(n + 1, 1));
    if (old.length > 0) this.publish(false);
  }

  private expectStories() {
    this.untold.expect(untoldOf(this.last?.checkpoints ?? [], this.findings, this.first, Date.now()));
  }

  /** Checkpoints that had no story when they were read. Who reads already expects them again afterwards. */
  private async readTold(numbers: readonly number[]) {
    if (this.watchers.size === 0 || this.reading) return;
    const newest = Math.max(...numbers);
    try {
      this.take(await this.page(newest + 1, Math.min(newest - Math.min(...numbers) + 1, pageSize)));
    } catch {
      return; // the next event reads them
    }
    this.publish(this.state.read?.done ?? false);
    this.expectStories();
  }

  private async readOlder() {
    for (let tries = 0; !this.full && !this.behind; ) {
      const oldest = this.checkpoints[this.checkpoints.length - 1]!.number;
      try {
        const t = await this.page(oldest);
        const page = t.checkpoints ?? [];
        this.take(t);
        this.checkpoints = [...this.checkpoints, ...page];
        if (page.length === 0) break;
        if (this.checkpoints.length >= 2 * this.published) this.publish(false);
        tries = 0;
      } catch (e) {
        const wait = e instanceof Trouble && e.problem.retryable ? retries[tries++] : undefined;
        if (wait === undefined) throw e;
        await new Promise((go) => setTimeout(go, wait));
      }
    }
  }

  private get full(): boolean {
    return this.checkpoints.length === 0 || this.checkpoints.length >= Math.min(this.last?.total ?? 0, mostCheckpoints);
  }

  private take(t: Timeline) {
    for (const c of t.checkpoints ?? []) {
      const f = t.findings[c.id];
      if (f) this.findings.set(c.id, f);
      else this.findings.delete(c.id);
    }
  }

  private publish(done: boolean) {
    const t = this.last!;
    this.published = this.checkpoints.length;
    this.state = {
      read: { checkpoints: this.checkpoints, findings: this.findings, pins: t.pins ?? [], workspace: t.workspace, good: t.good, total: t.total, done: done || this.full },
    };
    this.tell();
  }

  private tell() {
    for (const w of this.watchers) w();
  }
}

const books: Book[] = []; // the last ones that were opened
const mostBooks = 3;

export function bookOf(cache: QueryClient, ws: string): Book {
  const at = books.findIndex((b) => b.ws === ws);
  const book = at >= 0 ? books.splice(at, 1)[0]! : new Book(cache, ws);
  books.unshift(book);
  books.length = Math.min(books.length, mostBooks);
  return book;
}
