//go:build postgres

package real_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/retake-dev/retake/internal/storage/catalog/postgres"
	"github.com/retake-dev/retake/internal/storage/serverdb"
	"github.com/retake-dev/retake/test/real"
)

// Servers that start together all succeed, and each item that is put is announced with its time.
func TestAnnounceDue(t *testing.T) {
	t.Parallel()
	db, dsn := ledgerDB(t, real.StartPostgres(t, real.Careless))
	var g errgroup.Group
	for range 8 {
		g.Go(func() error { return postgres.AnnounceDue(t.Context(), db) })
	}
	ok(t, g.Wait())
	type item struct {
		queue string
		at    time.Time
	}
	connected, heard, ended := make(chan struct{}), make(chan item, 10), make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		ended <- postgres.ListenDue(ctx, dsn, func() { close(connected) }, func(queue string, at time.Time) { heard <- item{queue, at} })
	}()
	<-connected
	at := time.UnixMicro(time.Now().UnixMicro()).UTC()
	ok(t, openLedger(t, db).Put(t.Context(), serverdb.Due{Queue: "q", Namespace: "a", ID: "1", At: at}))
	select {
	case got := <-heard:
		if got != (item{"q", at}) {
			t.Errorf("heard %+v", got)
		}
	case <-time.After(time.Minute):
		t.Error("nothing was heard")
	}
	stop()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("ended with %v", err)
	}
}
