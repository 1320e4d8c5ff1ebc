// Which elements of two sequences differ: the shortest edit, after Myers, in linear
// space. Sequences that share little are cut short: the answer is then not the shortest,
// but it is always an edit that leads from one to the other.

export interface Flags {
  a: Uint8Array; // 1: this element is deleted
  b: Uint8Array; // 1: this element is added
}

/** flagsOf compares sequences of numbers; equal numbers are equal elements. */
export function flagsOf(a: Int32Array, b: Int32Array): Flags {
  const flags = { a: new Uint8Array(a.length), b: new Uint8Array(b.length) };
  const left = shared(a, b, flags.a);
  const right = shared(b, a, flags.b);
  new Edit(left, right, flags).run();
  return flags;
}

interface Part {
  values: Int32Array;
  at: Int32Array; // where each value stands in the whole
}

/** What occurs on one side only is changed for sure, and need not be compared. */
function shared(own: Int32Array, other: Int32Array, flags: Uint8Array): Part {
  const known = new Set<number>(other);
  const values = new Int32Array(own.length);
  const at = new Int32Array(own.length);
  let n = 0;
  for (let i = 0; i < own.length; i++) {
    if (!known.has(own[i]!)) {
      flags[i] = 1;
      continue;
    }
    values[n] = own[i]!;
    at[n++] = i;
  }
  return { values: values.subarray(0, n), at: at.subarray(0, n) };
}

const far = 0x7fffffff;

class Edit {
  private readonly a: Int32Array;
  private readonly b: Int32Array;
  private readonly front: Int32Array; // the furthest x on each diagonal, from the beginning
  private readonly back: Int32Array; // and from the end
  private readonly zero: number; // where diagonal 0 stands in them
  private readonly most: number; // so many steps before it is cut short
  private readonly left: Part;
  private readonly right: Part;
  private readonly flags: Flags;

  constructor(left: Part, right: Part, flags: Flags) {
    this.left = left;
    this.right = right;
    this.flags = flags;
    this.a = left.values;
    this.b = right.values;
    this.zero = this.b.length + 1;
    this.front = new Int32Array(this.a.length + this.b.length + 3);
    this.back = new Int32Array(this.front.length);
    this.most = Math.max(256, Math.floor(Math.sqrt(this.a.length + this.b.length) * 2));
  }

  run() {
    const rest: number[] = [0, this.a.length, 0, this.b.length];
    while (rest.length > 0) {
      let b1 = rest.pop()!;
      let b0 = rest.pop()!;
      let a1 = rest.pop()!;
      let a0 = rest.pop()!;
      while (a0 < a1 && b0 < b1 && this.a[a0] === this.b[b0]) a0++, b0++;
      while (a0 < a1 && b0 < b1 && this.a[a1 - 1] === this.b[b1 - 1]) a1--, b1--;
      if (a0 === a1) for (let i = b0; i < b1; i++) this.flags.b[this.right.at[i]!] = 1;
      else if (b0 === b1) for (let i = a0; i < a1; i++) this.flags.a[this.left.at[i]!] = 1;
      else {
        const [x, y] = this.middle(a0, a1, b0, b1);
        rest.push(a0, x, b0, y, x, a1, y, b1);
      }
    }
  }

  /** A point on the way, found from both ends at once. */
  private middle(a0: number, a1: number, b0: number, b1: number): [number, number] {
    const { a, b, front, back, zero } = this;
    const low = a0 - b1;
    const high = a1 - b0;
    const first = a0 - b0;
    const last = a1 - b1;
    const odd = ((first - last) & 1) !== 0;
    let f0 = first, f1 = first, r0 = last, r1 = last;
    front[zero + first] = a0;
    back[zero + last] = a1;
    for (let step = 1; ; step++) {
      if (f0 > low) front[zero + --f0 - 1] = -1;
      else f0++;
      if (f1 < high) front[zero + ++f1 + 1] = -1;
      else f1--;
      for (let k = f1; k >= f0; k -= 2) {
        const below = front[zero + k - 1]!;
        const above = front[zero + k + 1]!;
        let x = below >= above ? below + 1 : above;
        while (x < a1 && x - k < b1 && a[x] === b[x - k]) x++;
        front[zero + k] = x;
        if (odd && r0 <= k && k <= r1 && back[zero + k]! <= x) return [x, x - k];
      }
      if (r0 > low) back[zero + --r0 - 1] = far;
      else r0++;
      if (r1 < high) back[zero + ++r1 + 1] = far;
      else r1--;
      for (let k = r1; k >= r0; k -= 2) {
        const below = back[zero + k - 1]!;
        const above = back[zero + k + 1]!;
        let x = below < above ? below : above - 1;
        while (x > a0 && x - k > b0 && a[x - 1] === b[x - k - 1]) x--;
        back[zero + k] = x;
        if (!odd && f0 <= k && k <= f1 && x <= front[zero + k]!) return [x, x - k];
      }
      if (step >= this.most) return this.furthest(f0, f1, a1, b1, r0, r1, a0, b0);
    }
  }

  /** The point that is furthest from its own end: it is on no shortest way for sure, but it leads on. */
  private furthest(f0: number, f1: number, a1: number, b1: number, r0: number, r1: number, a0: number, b0: number): [number, number] {
    let best: [number, number] = [a0, b0];
    let done = -1;
    for (let k = f1; k >= f0; k -= 2) {
      let x = Math.min(this.front[this.zero + k]!, a1);
      if (x - k > b1) x = b1 + k;
      const way = x + (x - k) - a0 - b0;
      if (x >= a0 && x - k >= b0 && way > done && way < a1 + b1 - a0 - b0) [best, done] = [[x, x - k], way];
    }
    for (let k = r1; k >= r0; k -= 2) {
      let x = Math.max(this.back[this.zero + k]!, a0);
      if (x - k < b0) x = b0 + k;
      const way = a1 + b1 - x - (x - k);
      if (x <= a1 && x - k <= b1 && way > done && way < a1 + b1 - a0 - b0) [best, done] = [[x, x - k], way];
    }
    return best;
  }
}
