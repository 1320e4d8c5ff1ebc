package serverdbtest

import (
	"strconv"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/storage/serverdb"
)

// Bench measures what every request and every job pays.
func Bench(b *testing.B, l serverdb.Ledger) {
	book := l.Book(retake.NamespaceID(uniqueName("ns")))
	digest := digestOf(uniqueName("secret"))
	wantNoError(b, book.AddKey(b.Context(), newKey("key_1"), digest))
	b.Run("key by digest", func(b *testing.B) {
		for b.Loop() {
			_, _, err := l.KeyByDigest(b.Context(), digest)
			wantNoError(b, err)
		}
	})
	b.Run("reply", func(b *testing.B) {
		book, n := l.Book(retake.NamespaceID(uniqueName("ns"))), 0
		for b.Loop() {
			n++
			key := strconv.Itoa(n)
			// One that was kept gets old for each that comes.
			now := afterStart(time.Duration(n) * time.Second)
			r, _, err := book.BeginReply(b.Context(), key, digest, now, time.Minute)
			wantNoError(b, err)
			r.Status, r.Body = 200, []byte("{}")
			wantNoError(b, book.EndReply(b.Context(), key, r, now.Add(time.Minute)))
		}
	})
	b.Run("claim and finish", func(b *testing.B) {
		queue := uniqueName("queue")
		for b.Loop() {
			b.StopTimer()
			wantNoError(b, l.Put(b.Context(), serverdb.Due{Queue: queue, Namespace: "ns", ID: "x", At: start}))
			b.StartTimer()
			got, err := l.Claim(b.Context(), queue, start, time.Minute, 10)
			wantNoError(b, err)
			wantNoError(b, l.Finish(b.Context(), got[0]))
		}
	})
	b.Run("claim nothing", func(b *testing.B) {
		for b.Loop() {
			_, err := l.Claim(b.Context(), "nothing", start, time.Minute, 10)
			wantNoError(b, err)
		}
	})
	b.Run("audit entry", func(b *testing.B) {
		for b.Loop() {
			wantNoError(b, book.Note(b.Context(), "do", "x"))
		}
	})
}
