//go:build s3 && ssh

package real_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/replica"
	"github.com/retake-dev/retake/internal/storage/store/replica/places"
	"github.com/retake-dev/retake/test/parts"
	"github.com/retake-dev/retake/test/real"
)

// cutHost is a host that is killed and started again all the time.
type cutHost interface {
	Stop()
	Start() error
}

// cutLine is the line to a host, which breaks.
type cutLine struct{ *parts.Proxy }

func (c cutLine) Stop()        { c.Cut() }
func (c cutLine) Start() error { return nil }

// cut kills a host again and again until the function that it returns is called.
func cut(t *testing.T, h cutHost, seed uint64) (end func() (cuts int)) {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 1))
	stop, cuts := make(chan struct{}), 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(time.Duration(20+rnd.IntN(250)) * time.Millisecond):
			}
			h.Stop()
			cuts++
			time.Sleep(time.Duration(rnd.IntN(60)) * time.Millisecond)
			if err := h.Start(); err != nil {
				t.Error(err)
				return
			}
		}
	})
	return func() int {
		close(stop)
		wg.Wait()
		return cuts
	}
}

func TestCopyInS3ThatIsKilled(t *testing.T) {
	t.Parallel()
	s := real.StartS3(t)
	at := places.S3{Endpoint: s.Endpoint, Region: s.Region, Bucket: s.Name, Prefix: "stores/1", AccessKey: s.AccessKey, SecretKey: s.SecretKey, Insecure: true}
	copyToHostThatIsCut(t, s, func() (replica.Place, error) { return places.OpenS3(at) })
}

func TestCopyOverSFTPThatIsCut(t *testing.T) {
	t.Parallel()
	host := real.StartSshd(t)
	line, err := parts.StartProxy(fmt.Sprintf("127.0.0.1:%d", host.Port))
	must(t, err)
	defer line.Close()
	at := sftpOf(t, host, host.Root)
	_, port, err := net.SplitHostPort(line.Address())
	must(t, err)
	at.Port, err = strconv.Atoi(port)
	must(t, err)
	at.KnownHosts = []byte(fmt.Sprintf("[127.0.0.1]:%d %s\n", at.Port, host.Key))
	copyToHostThatIsCut(t, cutLine{line}, func() (replica.Place, error) { return places.OpenSFTP(context.Background(), at) })
}

// copyToHostThatIsCut saves and uploads while the host is killed. Then the store is thrown away: all that
// counted as uploaded comes back, byte for byte. CUTS is how often the host is killed at least.
func copyToHostThatIsCut(t *testing.T, host cutHost, open func() (replica.Place, error)) {
	t.Helper()
	least, err := strconv.Atoi(os.Getenv("CUTS"))
	if err != nil {
		least = 10
	}
	password := strings.Repeat("pw", 20)
	s, err := kopia.Create(t.Context(), kopia.Options{Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: clock.Wall, Exclusive: true, Derivation: derivation, Password: password})
	must(t, err)
	ws := retake.Workspace{ID: retake.WorkspaceID(retake.WorkspacePrefix + uuid.NewString()), Name: "w", Root: "/w"}
	place, err := open()
	must(t, err)
	defer place.Close()
	r := replica.New(replica.Options{
		Source: kopia.NewReplicaSource(s), Place: place, Clock: clock.Wall, Writer: "here", Window: time.Millisecond,
		Pause: func(ctx context.Context, d time.Duration) error {
			select {
			case <-time.After(d / 20): // the host is back sooner, too
			case <-ctx.Done():
			}
			return ctx.Err()
		},
	})
	var texts []string
	uploaded, synced, failed, cuts := int64(0), 0, 0, 0
	for round := uint64(0); cuts < least; round++ {
		end := cut(t, host, round)
		for range 25 {
			text := fmt.Sprint(len(texts), " ", strings.Repeat(strconv.FormatUint(rand.Uint64(), 36), 1<<rand.IntN(16)))
			must(t, sealOne(t.Context(), s, ws, text))
			texts = append(texts, text)
			_, err := r.Sync(t.Context())
			if synced++; err != nil {
				failed++
			}
			h := r.Head()
			if l, ok := h.Line(ws.ID); ok {
				uploaded = max(uploaded, l.Latest)
			}
		}
		if _, err := r.Sweep(t.Context()); err != nil {
			failed++
		}
		cuts += end()
	}
	must(t, r.Close(t.Context()))
	must(t, s.Close()) // and the machine with it

	key, err := kopia.ReplicaSealer(password)
	must(t, err)
	h, err := replica.ReadHead(t.Context(), place, key)
	must(t, err)
	back, err := kopia.Open(t.Context(), kopia.Options{
		Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: clock.Wall, Password: password,
		Copy: &kopia.CopyOptions{Indexes: h.Indexes, Clock: h.Clock, Get: place.Get},
	})
	must(t, err)
	defer back.Close()
	if l, _ := h.Line(ws.ID); l.Latest < uploaded {
		t.Errorf("uploaded up to %d, and there up to %d", uploaded, l.Latest)
	}
	for n := int64(1); n <= uploaded; n++ {
		if text, err := readOne(t.Context(), back, ws.ID, n); err != nil || text != texts[n-1] {
			t.Errorf("checkpoint %d: %d bytes of %d: %v", n, len(text), len(texts[n-1]), err)
		}
	}
	t.Logf("%d kills, %d saves, %d of %d uploads failed; %d counted as uploaded, all are there", cuts, len(texts), failed, synced, uploaded)
	if uploaded < int64(len(texts))/4 {
		t.Errorf("%d of %d were uploaded: too few to show anything", uploaded, len(texts))
	}
}

func sealOne(ctx context.Context, s store.Store, ws retake.Workspace, text string) error {
	w, err := s.Begin(ctx, ws)
	if err != nil {
		return err
	}
	defer w.Close() // sealed, or reported
	file, size, err := w.WriteFile(ctx, "a", strings.NewReader(text))
	if err != nil {
		return err
	}
	id, sum, err := w.WriteDir(ctx, []retake.Entry{{Name: "a", Kind: retake.KindFile, Mode: 0o644, Size: size, Object: file}}, 1)
	if err != nil {
		return err
	}
	cp := retake.Checkpoint{ID: retake.CheckpointID(retake.CheckpointPrefix + uuid.NewString()), Workspace: ws.ID, Number: w.Head().Latest + 1, Tree: id}
	return w.Seal(ctx, store.SealRequest{Card: retake.Card{V: retake.CardVersion, Checkpoint: cp}, Files: retake.Entry{Kind: retake.KindDir, Object: id, Sum: sum}})
}

func readOne(ctx context.Context, s store.Store, ws retake.WorkspaceID, n int64) (string, error) {
	rec, err := s.Record(ctx, ws, n)
	if err != nil {
		return "", err
	}
	entries, err := s.Dir(ctx, rec.Files.Object)
	if err != nil || len(entries) != 1 {
		return "", fmt.Errorf("%d entries: %w", len(entries), err)
	}
	f, err := s.File(ctx, entries[0].Object)
	if err != nil {
		return "", err
	}
	defer f.Close()
	var b bytes.Buffer
	_, err = b.ReadFrom(f)
	return b.String(), err
}
