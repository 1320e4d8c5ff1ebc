package term_test

import (
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/term"
	"github.com/retake-dev/retake/internal/ui/term/termtest"
)

func TestU10_ReadBackIsSaidOnlyWhenItWas(t *testing.T) {
	t.Parallel()
	l := term.NewLook(80, termtest.Now, false, false)
	file := retake.Entry{Kind: retake.KindFile, Size: 3}
	p := retake.Plan{Course: retake.CourseRestore, Target: &retake.Checkpoint{Number: 2}, Writes: []retake.Step{{Path: "a", What: retake.Added, Then: &file}}}
	for _, read := range []bool{true, false} {
		got := term.RenderResult(l, &p, retake.RestoreResult{Written: 1, ReadBack: read}, time.Second)
		if strings.Contains(got, "read back") != read {
			t.Errorf("read back %v:\n%s", read, got)
		}
	}
}
