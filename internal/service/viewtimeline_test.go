package service

import (
	"context"
	"testing"

	"github.com/retake-dev/retake"
)

// A service that does not answer must not hold the timeline, and must not hide the row.
func TestU12_AServiceThatHangsIsLate(t *testing.T) {
	t.Parallel()
	let := make(chan struct{})
	defer close(let)
	if p := startReadPresent(t.Context(), hanging{let: let}, "ws_1")(); !p.TimedOut || p.Status != nil {
		t.Errorf("got %+v", p)
	}
}

type hanging struct {
	presentReader
	let chan struct{}
}

func (h hanging) Status(context.Context, retake.WorkspaceID) (retake.Status, error) {
	<-h.let
	return retake.Status{}, nil
}

func (hanging) RunTask(_ string, step func() error) { _ = step() } // the step never ends
