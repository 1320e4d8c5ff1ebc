package cli_test

import (
	"context"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
)

// crowded is a service on a machine where other programs did something, too.
type crowded struct{ retake.Service }

func (c crowded) Story(ctx context.Context, q retake.DiffQuery) (retake.Story, error) {
	st, err := c.Service.Story(ctx, q)
	if q.Machine {
		st.Facts = append(st.Facts, retake.Fact{Kind: retake.FactPort, What: retake.Added, Name: "tcp 2299", After: "sshd", Path: "/proc/net"})
	} else {
		st.Elsewhere = 1
	}
	return st, err
}

// What other programs did is counted, and told to whoever asks for it with a flag.
func TestV5_ShowTellsOfOtherProgramsWhenAsked(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.wrap = func(s retake.Service) retake.Service { return crowded{s} }
	p.types("", "init").want(t, 0, "", "")
	p.write("a.txt", "a")
	p.types("", "save", "second").want(t, 0, "", "")
	if got := flat(p.types("", "show", "2").out); strings.Contains(got, "2299") || !strings.Contains(got, "1 change by other programs: retake show 2 --machine") {
		t.Errorf("unasked: %s", got)
	}
	if got := flat(p.types("", "show", "2", "--machine").out); !strings.Contains(got, "2299") {
		t.Errorf("asked: %s", got)
	}
}
