// The one error.

export const UNCHANGED = "Nothing was changed.";
export const UNCERTAIN = "It is not certain whether it was done; earlier checkpoints are intact.";

export class RetakeError extends Error {
  constructor(code, what, more = {}) {
    super(what, more.error ? { cause: more.error } : undefined);
    this.name = "RetakeError";
    this.code = code;
    this.what = what;
    this.safe = more.safe ?? "";
    this.hint = more.hint ?? "";
    this.nextSteps = more.next_steps ?? [];
    this.requestId = more.request_id ?? "";
    this.below = more.cause ?? "";
    this.status = more.status ?? 0;
    this.retryable = more.retryable ?? false;
    this.plan = more.plan ?? null;
    tell(this);
  }

  /** The error that a problem of the server is. */
  static of(problem) {
    return new RetakeError(problem.code, problem.what ?? "", problem);
  }
}

/** Puts into words what is known by now. */
export function tell(e) {
  e.message = [e.what, e.below, e.safe, e.hint]
    .filter(Boolean)
    .map((t) => t.replace(/\.$/, ""))
    .join(". ");
}
