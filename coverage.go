package retake

// Reason is why a path is not, or not safely, in a snapshot.
type Reason string

// Reasons are append-only. A reason that is a choice of the user (excluded,
// ignored, too-big) leaves the grade complete; the others make it partial.
const (
	ReasonUnreadable Reason = "unreadable" // no permission, or an I/O error
	ReasonTorn       Reason = "torn"       // changed each time it was read
	ReasonMoving     Reason = "moving"     // a directory that changed while it was listed
	ReasonMount      Reason = "mount"      // another file system below the root
	ReasonDevice     Reason = "device"     // a device node
	ReasonTooDeep    Reason = "too-deep"   // more directory levels than we follow
	ReasonSparse     Reason = "sparse"     // holes too large to read as zeros
	ReasonBudget     Reason = "budget"     // the time for this capture was over
	ReasonTooBig     Reason = "too-big"    // a new file over the limit of the policy
	ReasonExcluded   Reason = "excluded"   // named by the policy
	ReasonIgnored    Reason = "ignored"    // hidden by git's rules, when the policy follows them
	ReasonPurged     Reason = "purged"     // it was there, and was removed from the history for good
	ReasonStore      Reason = "store"      // our own store, when it lies below the root
)

// Chosen reports whether the user's policy, and not the world, is the reason.
func (r Reason) Chosen() bool {
	switch r {
	case ReasonTooBig, ReasonExcluded, ReasonIgnored, ReasonStore:
		return true
	default:
		return false
	}
}

// Held reports whether a path with this reason is in the snapshot all the same,
// with bytes that may mix two points in time.
func (r Reason) Held() bool { return r == ReasonTorn || r == ReasonMoving }

// Gap is one path and why it is a gap. A directory ends in "/" and stands for
// everything below it.
type Gap struct {
	Path   string `json:"path"`
	Reason Reason `json:"reason"`
	Detail string `json:"detail,omitempty"`
}

// Grade is the one word for a coverage.
type Grade string

// Two grades; there is no third.
const (
	Complete Grade = "complete"
	Partial  Grade = "partial"
)

// Coverage says what a snapshot does not hold. Gaps is never cut.
type Coverage struct {
	Grade Grade `json:"grade"`
	Gaps  []Gap `json:"gaps,omitempty"`
}

// Cover grades the gaps.
func Cover(gaps []Gap) Coverage {
	c := Coverage{Grade: Complete, Gaps: gaps}
	for _, g := range gaps {
		if !g.Reason.Chosen() {
			c.Grade = Partial
		}
	}
	return c
}

// Count counts the gaps per reason.
func (c Coverage) Count() map[Reason]int {
	n := map[Reason]int{}
	for _, g := range c.Gaps {
		n[g.Reason]++
	}
	return n
}
