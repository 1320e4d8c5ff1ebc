// The rows of a workspace that were read so far, newest first, and their graph. The first page is
// shown at once, older ones are read behind it, page by page; what is new comes by live events.
// A book outlives its screen, so that who comes back finds what was there.
import type { QueryClient } from "@tanstack/react-query";
import { Trouble } from "../../api/ask.ts";
import { pageSize, viewOf } from "../../api/queries.ts";
import type { Checkpoint, Event, TimelineView, Upload, Workspace } from "../../api/types.ts";
import { merge } from "./merge.ts";
import type { Row } from "./rows.ts";
import { Unsent } from "./unsent.ts";
import { Untold, untoldOf } from "./untold.ts";

/** More are not read here. */
export const mostCheckpoints = 20_000;

/** What a book holds, as of one publication. It is never changed. */
export interface Read {
  rows: readonly Row[];
  graph: TimelineView; // where the rows stand, what is folded, and the forks
  workspace: Workspace;
  good?: Checkpoint;
  total: number;
  upload?: Upload; // how far it is uploaded; none: there is no remote
  done: boolean; // nothing older is to be read
}

/** What somebody folded and opened. */
export interface Folds {
  open: readonly string[]; // keys of rows
  replaced: boolean; // what a restore replaced is folded
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
  private rows: readonly Row[] = [];
  private last?: TimelineView; // the newest page
  private graph?: TimelineView;
  private graphs = 0; // how many were asked for
  private folds: Folds = { open: [], replaced: false };
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
  private readonly unsent = new Unsent(() => void this.readUpload());

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

  /** fold changes what is folded. */
  fold = (f: Folds) => {
    if (f.replaced === this.folds.replaced && f.open.join() === this.folds.open.join()) return;
    this.folds = f;
    if (this.state.read) void this.publish(this.state.read.done).catch(() => {}); // the next reading says what is wrong
  };

  private async page(before?: number, limit = pageSize): Promise<TimelineView> {
    return this.cache.fetchQuery({ ...viewOf(this.ws, { flat: true, before, limit }), staleTime: 0, gcTime: 0 });
  }

  /** readGraph lays out so many rows. An answer that a later question overtook is dropped. */
  private async readGraph(limit: number) {
    const nth = ++this.graphs;
    const { open, replaced } = this.folds;
    const g = await this.cache.fetchQuery({ ...viewOf(this.ws, { graph: true, limit, open, fold_replaced: replaced }), staleTime: 0, gcTime: 0 });
    if (nth === this.graphs) this.graph = g;
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
      await this.publish(true);
      this.first = Math.min(this.first, this.rows[0]?.number ?? 0);
      this.expectStories();
      this.expectUpload();
    } catch (e) {
      this.state = { read: this.state.read, trouble: e };
      this.tell();
    }
  }

  private async readNewest() {
    const top = this.rows[0]?.number;
    const [t] = await Promise.all([this.page(), this.graph ? undefined : this.readGraph(pageSize)]);
    const page = rowsIn(t);
    // Rows below this page say that they are not uploaded, and now they are.
    if (this.last?.upload && this.last.upload.through < (t.upload?.through ?? 0) && this.last.upload.through < (page.at(-1)?.number ?? 0) - 1) this.thinned = true;
    this.last = t;
    const gap = top !== undefined && page.length === pageSize && page[page.length - 1]!.number > top;
    this.rows = merge(gap ? [] : this.rows, page, true);
    await this.publish(false);
  }

  /** Anything may be gone: all of it is read once more, and what was there stays until then. */
  private async readAgain() {
    this.thinned = false;
    const kept = [...rowsIn(this.last)];
    for (let page = kept; page.length === pageSize && kept.length < mostCheckpoints; ) {
      page = rowsIn(await this.page(page[page.length - 1]!.number));
      kept.push(...page);
    }
    this.rows = kept;
    await this.publish(false);
  }

  /** Checkpoints further down whose verifications changed. */
  private async readStale() {
    const first = rowsIn(this.last).at(-1)?.number ?? 0;
    const old = [...this.stale].filter((n) => n < first).slice(0, 20);
    this.stale.clear();
    for (const n of old) this.rows = merge(this.rows, rowsIn(await this.page(n + 1, 1)), false);
    if (old.length > 0) await this.publish(false);
  }

  private expectStories() {
    this.untold.expect(untoldOf(this.rows.slice(0, pageSize), this.first, Date.now()));
  }

  /** Checkpoints that had no story when they were read. Who reads already expects them again afterwards. */
  private async readTold(numbers: readonly number[]) {
    if (this.watchers.size === 0 || this.reading) return;
    const newest = Math.max(...numbers);
    try {
      const page = await this.page(newest + 1, Math.min(newest - Math.min(...numbers) + 1, pageSize));
      this.rows = merge(this.rows, rowsIn(page), false);
      await this.publish(this.state.read?.done ?? false);
    } catch {
      return; // the next event reads them
    }
    this.expectStories();
  }

  private expectUpload() {
    this.unsent.expect(this.last?.upload?.through, this.rows[0]?.number ?? 0);
  }

  /** Reads what is new if more was uploaded. */
  private async readUpload() {
    if (this.watchers.size === 0 || this.reading) return;
    try {
      const { upload } = await this.page(undefined, 1);
      const was = this.last?.upload;
      if (upload?.through !== was?.through || upload?.failing !== was?.failing || upload?.remote !== was?.remote) return this.begin();
    } catch {
      // the next time
    }
    this.expectUpload();
  }

  private async readOlder() {
    for (let tries = 0; !this.full && !this.behind; ) {
      const oldest = this.rows[this.rows.length - 1]!.number;
      try {
        const page = rowsIn(await this.page(oldest));
        this.rows = [...this.rows, ...page];
        if (page.length === 0) break;
        if (this.rows.length >= 2 * this.published) await this.publish(false);
        tries = 0;
      } catch (e) {
        const wait = e instanceof Trouble && e.problem.retryable ? retries[tries++] : undefined;
        if (wait === undefined) throw e;
        await new Promise((go) => setTimeout(go, wait));
      }
    }
  }

  private get full(): boolean {
    return this.rows.length === 0 || this.rows.length >= Math.min(this.last?.total ?? 0, mostCheckpoints);
  }

  /** publish shows what was read, once its graph is there. */
  private async publish(done: boolean) {
    if (this.rows.length > 0 && (this.state.read || !this.graph)) await this.readGraph(this.rows.length);
    const t = this.last!;
    this.published = this.rows.length;
    const graph = this.graph ?? t;
    this.state = { read: { rows: this.rows, graph, workspace: t.workspace, good: t.good, total: t.total, upload: t.upload, done: done || this.full } };
    this.tell();
  }

  private tell() {
    for (const w of this.watchers) w();
  }
}

/** The rows of checkpoints in a page. */
const rowsIn = (t?: TimelineView): Row[] => (t?.rows ?? []) as Row[];

const books: Book[] = []; // the last ones that were opened
const mostBooks = 3;

export function bookOf(cache: QueryClient, ws: string): Book {
  const at = books.findIndex((b) => b.ws === ws);
  const book = at >= 0 ? books.splice(at, 1)[0]! : new Book(cache, ws);
  books.unshift(book);
  books.length = Math.min(books.length, mostBooks);
  return book;
}
