package places

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"
)

// Who waits for a host is let go, and the place is not used before the host has answered.
func TestLateRequest(t *testing.T) {
	t.Parallel()
	answer := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	time.AfterFunc(20*time.Millisecond, stop)
	if _, err := await(ctx, t.Name(), func() (int, error) { <-answer; return 1, nil }); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	short, end := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer end()
	if err := late.wait(short, t.Name()); err == nil {
		t.Error("the place is used while a request is late")
	}
	if err := late.wait(t.Context(), "another place"); err != nil {
		t.Error(err)
	}
	close(answer)
	if err := late.wait(t.Context(), t.Name()); err != nil {
		t.Error(err)
	}
}

func TestPanicOfAClient(t *testing.T) {
	t.Parallel()
	if _, err := await(t.Context(), t.Name(), func() (int, error) { panic("oops") }); err == nil || !strings.Contains(err.Error(), "oops") {
		t.Error(err)
	}
}
