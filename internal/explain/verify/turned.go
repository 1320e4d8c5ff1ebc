package verify

import (
	"cmp"
	"slices"

	"github.com/retake-dev/retake"
)

// TurningPoints returns the checkpoints at which the result of a check changed: the first
// that passed, the first that failed after it, and so on. Both directions count, because
// without the failures between them two passes look like one.
func TurningPoints(all []retake.Verification) []retake.CheckpointID {
	all = slices.DeleteFunc(slices.Clone(all), func(v retake.Verification) bool {
		return v.Claim || v.Where == retake.Elsewhere || v.Verdict != retake.Passed && v.Verdict != retake.Failed
	})
	slices.SortFunc(all, func(a, b retake.Verification) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), a.Started.Compare(b.Started), cmp.Compare(a.ID, b.ID))
	})
	last := map[string]retake.Verdict{}
	var out []retake.CheckpointID
	for _, v := range all {
		if was, known := last[v.Name]; v.Verdict != was && (known || v.Verdict == retake.Passed) {
			out = append(out, v.Checkpoint)
		}
		last[v.Name] = v.Verdict
	}
	return slices.Compact(out)
}
