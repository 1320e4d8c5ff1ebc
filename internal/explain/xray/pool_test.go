package xray_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// The test program is also the child: as it is, or one that misbehaves.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "child" {
		proc.EnterSandbox(xray.Cage)
		os.Exit(child(os.Args[2]))
	}
	os.Exit(m.Run())
}

func child(how string) int {
	in, out := io.Reader(os.Stdin), io.Writer(os.Stdout)
	switch how {
	case "deaf": // never answers
		_, _ = io.Copy(io.Discard, in)
		return 0
	case "blind": // never reads
		select {}
	case "hungry": // takes memory at once when it is asked
		_, _ = io.CopyN(io.Discard, in, 8)
		b := make([]byte, 3<<30)
		return int(b[len(b)-1])
	case "mad": // answers what nobody can understand
		_, _ = io.CopyN(io.Discard, in, 8)
		_, _ = os.Stdout.Write(bytes.Repeat([]byte{0xff, 0, 0, 1}, 100))
		return 0
	case "mortal": // dies after its first file
		in = &mortal{in, 1 << 20}
	case "brief": // dies after its second answer
		out = &brief{out, 2}
	}
	if xray.Serve(in, out) != nil {
		return 1
	}
	return 0
}

// mortal ends the process when it was sent so much.
type mortal struct {
	r    io.Reader
	left int
}

func (m *mortal) Read(b []byte) (int, error) {
	n, err := m.r.Read(b)
	if m.left -= n; m.left < 0 {
		os.Exit(3)
	}
	return n, err
}

// brief ends the process when it has answered so often.
type brief struct {
	w    io.Writer
	left int
}

func (b *brief) Write(p []byte) (int, error) {
	if b.left == 0 {
		os.Exit(3)
	}
	b.left--
	return b.w.Write(p)
}

// pool starts real children, and counts them.
func pool(t *testing.T, how ...string) (*xray.Pool, *atomic.Int32) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var n atomic.Int32
	p := xray.NewPool(func(ctx context.Context) (xray.Child, error) {
		i := int(n.Add(1)) - 1
		return proc.StartPiped(ctx, exe, "child", how[min(i, len(how)-1)])
	})
	p.Key = xray.TestKey
	p.SetTimes(10*time.Second, time.Minute, time.Minute) // a busy machine is no reason
	t.Cleanup(func() { p.Close() })
	return p, &n
}

func ask(reader, text string) xray.Request {
	return xray.Request{Reader: reader, Path: "p", Entry: file(int64(len(text))), Open: opens(text)}
}

func opens(text string) func(context.Context) (io.ReadCloser, error) {
	return func(context.Context) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(text)), nil }
}

func whys(readings []xray.Reading) []string {
	var list []string
	for _, r := range readings {
		list = append(list, fmt.Sprintf("%d %s", len(r.Traits), r.Why))
	}
	return list
}

// TestAChildReadsAsWeDo holds that the cage takes nothing from readers that they need: in
// it each answers the same as outside.
func TestAChildReadsAsWeDo(t *testing.T) {
	t.Parallel()
	p, started := pool(t, "good")
	var asks []xray.Request
	var want [][]string
	for _, s := range samples {
		name := reader(t, s.path)
		asks = append(asks, ask(name, s.text))
		want = append(want, s.want)
	}
	data, log := database(t, "PRAGMA journal_mode=WAL", "CREATE TABLE t (id INTEGER)", "INSERT INTO t VALUES (1)")
	a := ask("sqlite@1", string(data))
	a.Log = opens(string(log))
	asks, want = append(asks, a), append(want, []string{"rows t 1", "table t id INTEGER"})
	readings, err := p.Read(t.Context(), asks)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range readings {
		if d := cmp.Diff(want[i], told(r)); d != "" {
			t.Errorf("%s: %s", asks[i].Reader, d)
		}
	}
	if started.Load() != 1 {
		t.Errorf("%d children", started.Load())
	}
}

// TestOneBadFileCostsOnlyItself holds that time and memory are bounded for each file, and
// that the others are read.
func TestOneBadFileCostsOnlyItself(t *testing.T) {
	t.Parallel()
	env := ask("env@1", "A=1\n")
	for how, why := range map[string]string{
		"deaf": "took too long", "blind": "took too long", "hungry": "took too much memory", "mad": "the reader broke off",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			p, started := pool(t, how, "good")
			if why == "took too long" {
				p.SetTimes(5*time.Second, time.Minute, time.Minute)
			}
			big := ask("dpkg@1", strings.Repeat("x\n", 8<<20)) // more than a pipe holds
			readings, err := p.Read(t.Context(), []xray.Request{big, env, env})
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff([]string{"0 " + why, "1 ", "1 "}, whys(readings)); d != "" {
				t.Error(d)
			}
			if started.Load() != 2 {
				t.Errorf("%d children", started.Load())
			}
		})
	}
}

// TestARealBombInARealChild has a reader take more memory than it may: a lock file of many
// small packages.
func TestARealBombInARealChild(t *testing.T) {
	t.Parallel()
	p, _ := pool(t, "good")
	bomb := `{"packages":{` + strings.Repeat(`"node_modules/a":{"dependencies":{"":0,"":0,"":0,"":0}},`, 200_000) + `"":{}}}`
	nested := `{"packages":` + strings.Repeat(`[`, 9_000) + strings.Repeat(`]`, 9_000) + `}`
	readings, err := p.Read(t.Context(), []xray.Request{ask("npm-lock@1", bomb), ask("npm-lock@1", nested), ask("env@1", "A=1\n")})
	if err != nil {
		t.Fatal(err)
	}
	if readings[2].Why != "" || len(readings[2].Traits) != 1 || readings[1].Why == "" {
		t.Errorf("%v", whys(readings))
	}
}

// TestAnInnocentFileIsReadAgain holds that a child that dies of age is not blamed on the
// file that it had.
func TestAnInnocentFileIsReadAgain(t *testing.T) {
	t.Parallel()
	p, started := pool(t, "mortal")
	text := strings.Repeat("A=1\n", 100<<10)
	readings, err := p.Read(t.Context(), []xray.Request{ask("env@1", text), ask("env@1", text), ask("env@1", text), ask("env@1", text)})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"1 ", "1 ", "1 ", "1 "}, whys(readings)); d != "" || started.Load() < 2 {
		t.Errorf("%d children: %s", started.Load(), d)
	}
}

func TestWhatNeedsNoChildStartsNone(t *testing.T) {
	t.Parallel()
	p, started := pool(t, "good")
	large := ask("json@2", "{}")
	large.Entry.Size = 5<<20 + 1
	readings, err := p.Read(t.Context(), []xray.Request{{Reader: "mode@1", Path: "a", Entry: file(1)}, large, ask("none@1", "x"), ask("sqlite@1", strings.Repeat("x", 512))})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"1 ", "0 too large (6 MB)", "0 there is no such reader", "0 "}, whys(readings)); d != "" || started.Load() != 0 {
		t.Errorf("%d children: %s", started.Load(), d)
	}
}

type failing struct{ after int }

func (f *failing) Read(b []byte) (int, error) {
	if f.after <= 0 {
		return 0, errors.New("the disk is gone")
	}
	n := min(len(b), f.after)
	f.after -= n
	return n, nil
}

func TestBytesThatDoNotComeAreSaid(t *testing.T) {
	t.Parallel()
	p, started := pool(t, "good")
	missing, broken, longer := ask("env@1", "A=1"), ask("dpkg@1", "x"), ask("json@2", "{}")
	missing.Open = func(context.Context) (io.ReadCloser, error) { return nil, errors.New("no such object") }
	broken.Open = func(context.Context) (io.ReadCloser, error) { return io.NopCloser(&failing{600 << 10}), nil }
	longer.Open = opens(strings.Repeat(" ", 3<<20))
	readings, err := p.Read(t.Context(), []xray.Request{missing, broken, longer, ask("env@1", "A=1")})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"0 the bytes could not be read", "0 the bytes could not be read", "0 too large (2 MB)", "1 "}, whys(readings)); d != "" || started.Load() != 1 {
		t.Errorf("%d children: %s", started.Load(), d)
	}
}

func TestTimeForAllIsBounded(t *testing.T) {
	t.Parallel()
	p, _ := pool(t, "deaf")
	p.SetTimes(time.Minute, time.Second, time.Minute)
	readings, err := p.Read(t.Context(), []xray.Request{ask("env@1", "A=1"), ask("env@1", "A=1"), {Reader: "mode@1", Path: "a", Entry: file(1)}})
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"0 there was no time left", "0 there was no time left", "1 "}, whys(readings)); d != "" {
		t.Error(d)
	}
}

func TestAContextThatEndsEndsTheReading(t *testing.T) {
	t.Parallel()
	p, _ := pool(t, "deaf")
	ctx, cancel := context.WithCancel(t.Context())
	a := ask("env@1", "A=1")
	a.Open = func(context.Context) (io.ReadCloser, error) {
		time.AfterFunc(50*time.Millisecond, cancel)
		return opens("A=1")(ctx)
	}
	if _, err := p.Read(ctx, []xray.Request{a}); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestNoChildIsAnError(t *testing.T) {
	t.Parallel()
	boom := errors.New("no more processes")
	p := xray.NewPool(func(context.Context) (xray.Child, error) { return nil, boom })
	if _, err := p.Read(t.Context(), []xray.Request{ask("env@1", "A=1")}); !errors.Is(err, boom) {
		t.Errorf("%v", err)
	}
}

// watchedChild tells when it is closed.
type watchedChild struct {
	xray.Child
	closed chan struct{}
}

func (w watchedChild) Close() error {
	defer func() { recover() }() //nolint:errcheck // a second close
	close(w.closed)
	return w.Child.Close()
}

func TestAChildThatRestsEnds(t *testing.T) {
	t.Parallel()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	closed := make(chan struct{})
	p := xray.NewPool(func(ctx context.Context) (xray.Child, error) {
		c, err := proc.StartPiped(ctx, exe, "child", "good")
		return watchedChild{c, closed}, err
	})
	p.SetTimes(10*time.Second, time.Minute, 20*time.Millisecond)
	if _, err := p.Read(t.Context(), []xray.Request{ask("env@1", "A=1")}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-closed:
	case <-time.After(20 * time.Second):
		t.Error("the child goes on without work")
	}
}
