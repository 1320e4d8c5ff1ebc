//go:build unix

package daemon_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/daemon"
	"github.com/retake-dev/retake/internal/platform/clock"
)

var newsTime = time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)

func tellSome(n *daemon.EventBuffer, from, to int64) {
	for i := from; i <= to; i++ {
		n.Add(retake.EventCreated, newsTime, retake.EventData{Number: i})
	}
}

func TestNews(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	n := daemon.NewEventBuffer(clock.NewManual(newsTime))
	ask := func(q retake.EventQuery) []retake.Event {
		t.Helper()
		got, err := n.Events(ctx, q)
		must(t, err)
		return got
	}
	if got := ask(retake.EventQuery{}); len(got) != 0 {
		t.Errorf("of nothing: %v", got)
	}
	if got := ask(retake.EventQuery{Newest: true, Wait: time.Hour}); len(got) != 0 {
		t.Errorf("the newest of nothing: %v", got)
	}
	tellSome(n, 1, 3)
	first := ask(retake.EventQuery{})
	if len(first) != 3 || first[0].Seq <= newsTime.UnixMilli() || first[2].Seq != first[0].Seq+2 {
		t.Fatalf("%+v", first)
	}
	if got := ask(retake.EventQuery{After: first[0].Seq, Limit: 1}); len(got) != 1 || got[0].Seq != first[1].Seq {
		t.Errorf("behind the first: %v", got)
	}
	if got := ask(retake.EventQuery{Newest: true}); len(got) != 1 || got[0].Seq != first[2].Seq {
		t.Errorf("the newest: %v", got)
	}
	// An earlier daemon gave lower numbers: who comes with one goes on here. One that began
	// later, by a clock that went back, gave higher ones, and nobody may wait for those.
	for name, after := range map[string]int64{"earlier": newsTime.Add(-time.Hour).UnixMilli() + 5, "later": newsTime.Add(time.Hour).UnixMilli()} {
		if got := ask(retake.EventQuery{After: after}); len(got) != 3 {
			t.Errorf("of an %s daemon: %v", name, got)
		}
	}
	tellSome(n, 4, 5000)
	if got := ask(retake.EventQuery{Limit: 1000}); len(got) != 1000 || got[999].Seq != first[0].Seq+4999 {
		t.Errorf("%d are kept", len(got))
	}
}

func TestWhoWaitsForNews(t *testing.T) {
	t.Parallel()
	n := daemon.NewEventBuffer(clock.NewManual(newsTime))
	tellSome(n, 1, 1)
	newest, err := n.Events(t.Context(), retake.EventQuery{Newest: true})
	must(t, err)
	got := make(chan []retake.Event, 1)
	go func() {
		all, _ := n.Events(t.Context(), retake.EventQuery{After: newest[0].Seq, Wait: patience})
		got <- all
	}()
	tellSome(n, 2, 2)
	if all := wait(t, got); len(all) != 1 || all[0].Seq != newest[0].Seq+1 {
		t.Errorf("%v", all)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := n.Events(ctx, retake.EventQuery{After: newest[0].Seq + 1, Wait: patience}); !errors.Is(err, context.Canceled) {
		t.Errorf("who went: %v", err)
	}
	if all, err := n.Events(t.Context(), retake.EventQuery{After: newest[0].Seq + 1, Wait: time.Millisecond}); err != nil || len(all) != 0 {
		t.Errorf("after the wait: %v %v", all, err)
	}
}
