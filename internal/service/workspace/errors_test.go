package workspace

import (
	"fmt"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

// A save that had no room says so, unless nobody knows whether it was kept.
func TestWrapSaveError(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err  error
		full bool
		kind retake.ErrorKind
	}{
		"no room":           {fmt.Errorf("write pack: %w", fsx.ErrNoSpace), true, retake.Limit},
		"no room, in doubt": {fmt.Errorf("%w: %w", store.ErrInDoubt, fsx.ErrNoSpace), false, retake.Internal},
		"another":           {fmt.Errorf("write pack: %w", store.ErrBusy), false, retake.Busy},
	} {
		e := retake.AsError(WrapSaveError(c.err))
		if strings.Contains(e.What, "the disk is full") != c.full || e.Kind != c.kind || e.Safe == "" {
			t.Errorf("%s: %+v", name, e)
		}
	}
	if WrapSaveError(nil) != nil {
		t.Error("no error became one")
	}
}
