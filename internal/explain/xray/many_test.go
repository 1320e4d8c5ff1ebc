package xray_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/explain/xray"
)

// A list that is longer than any machine's is said to be so, and not carried around.
func TestAnEndlessListIsSaid(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("module m\n\nrequire (\n")
	for i := range 25_000 {
		fmt.Fprintf(&b, "\texample.com/m%d v1.0.0\n", i)
	}
	b.WriteString(")\n")
	r := xray.ReadBytes(reader(t, "go.mod"), []byte(b.String()), nil)
	if len(r.Traits) != 0 || !strings.Contains(r.Why, "more than 20,000") {
		t.Errorf("%d traits, %q", len(r.Traits), r.Why)
	}
}
