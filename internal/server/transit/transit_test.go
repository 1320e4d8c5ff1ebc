package transit_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/pure/secretbox/secretboxtest"
	"github.com/retake-dev/retake/internal/server/transit"
	"github.com/retake-dev/retake/internal/server/transit/transittest"
)

// lockedBuffer collects a log.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(b)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// bed is a key server and what keepers need to reach it.
type bed struct {
	*testing.T
	s     *transittest.Server
	o     transit.Options
	clock *clock.Manual
	log   *lockedBuffer
}

func newBed(t *testing.T) *bed {
	t.Helper()
	dir := t.TempDir()
	b := &bed{T: t, s: transittest.Start(t, true), clock: clock.NewManual(time.Date(2026, 11, 3, 10, 0, 0, 0, time.UTC)), log: &lockedBuffer{}}
	b.o = transit.Options{
		URL: b.s.KeyURL(), TokenFile: filepath.Join(dir, "token"), CAFile: filepath.Join(dir, "ca.pem"), File: filepath.Join(dir, "kek.sealed"),
		Clock: b.clock, Log: slog.New(slog.NewTextHandler(b.log, nil)),
	}
	b.write(b.o.TokenFile, transittest.Token+"\n")
	b.write(b.o.CAFile, string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: b.s.Certificate().Raw})))
	return b
}

func (b *bed) write(path, text string) {
	b.Helper()
	b.must(os.WriteFile(path, []byte(text), 0o600))
}

func (b *bed) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (b *bed) keeper(change func(*transit.Options)) *transit.Keeper {
	b.Helper()
	o := b.o
	if change != nil {
		change(&o)
	}
	k, err := transit.New(o)
	b.must(err)
	return k
}

func (b *bed) seal(k secretbox.Keeper) []byte {
	b.Helper()
	sealed, err := k.Seal(b.Context(), "p", []byte("secret"))
	b.must(err)
	return sealed
}

func (b *bed) wantOpen(k secretbox.Keeper, sealed []byte) {
	b.Helper()
	if got, err := k.Open(b.Context(), "p", sealed); err != nil || string(got) != "secret" {
		b.Fatalf("opened %q: %v", got, err)
	}
}

func TestKeeper(t *testing.T) {
	t.Parallel()
	for name, local := range map[string]bool{"alone": false, "with a key from before": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secretboxtest.Run(t, func(t *testing.T) secretbox.Keeper {
				return newBed(t).keeper(func(o *transit.Options) {
					if local {
						o.Local = [][]byte{secretbox.NewKey()}
					}
				})
			})
		})
	}
}

// The key server is asked once for a process, and all processes get the same data key.
func TestDataKey(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	const keepers = 8
	sealed := make([][]byte, keepers)
	all := make([]*transit.Keeper, keepers)
	var wg sync.WaitGroup
	for i := range keepers {
		all[i] = b.keeper(nil)
		wg.Go(func() {
			var err error
			if sealed[i], err = all[i].Seal(t.Context(), "p", []byte("secret")); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	before := len(b.s.Calls())
	for i := range keepers {
		b.wantOpen(all[i], sealed[(i+1)%keepers])
	}
	if n := len(b.s.Calls()); n != before {
		t.Errorf("%d more calls", n-before)
	}
	next := b.keeper(nil)
	b.wantOpen(next, sealed[0])
	b.seal(next)
	if n := len(b.s.Calls()); n != before+1 {
		t.Errorf("another start made %d calls, not one", n-before)
	}
	file, err := os.ReadFile(b.o.File)
	b.must(err)
	if !strings.Contains(string(file), `"sealed":"vault:v1:`) || !strings.Contains(string(file), `"v":1`) {
		t.Errorf("the file is %s", file)
	}
	if info, err := os.Stat(b.o.File); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
}

// A keeper that starts without its key server works as soon as it is there; one that has its
// key needs it no more.
func TestKeyServerAway(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	sealed := b.seal(b.keeper(nil))
	b.s.Seal(true)
	k := b.keeper(nil)
	if err := k.Load(t.Context()); !retake.IsKind(err, retake.Away) || !strings.Contains(err.Error(), "sealed") {
		t.Fatalf("at the start: %v", err)
	}
	for range 3 {
		_, err := k.Open(t.Context(), "p", sealed)
		if !retake.IsKind(err, retake.Away) {
			t.Fatalf("opened: %v", err)
		}
		if strings.Contains(err.Error(), "127.0.0.1") || strings.Contains(err.Error(), "503") {
			t.Errorf("a tenant reads %v", err)
		}
	}
	if n := strings.Count(b.log.String(), "sealed or in maintenance"); n != 1 {
		t.Errorf("the log has the reason %d times:\n%s", n, b.log)
	}
	if err := k.Ready(t.Context()); !retake.IsKind(err, retake.Away) {
		t.Errorf("ready: %v", err)
	}
	b.s.Seal(false)
	b.clock.Advance(time.Second)
	b.must(k.Ready(t.Context()))
	b.wantOpen(k, sealed)
	b.s.Close() // later it may be away
	b.wantOpen(k, sealed)
	b.wantOpen(k, b.seal(k))
	if err := b.keeper(nil).Load(t.Context()); !retake.IsKind(err, retake.Away) {
		t.Errorf("a start with nobody there: %v", err)
	}
}

// At the first start there is no data key without the key server: nothing is left behind.
func TestFirstStartWithoutKeyServer(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.s.Seal(true)
	if err := b.keeper(nil).Load(t.Context()); !retake.IsKind(err, retake.Away) {
		t.Fatal(err)
	}
	if _, err := os.Stat(b.o.File); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("the file: %v", err)
	}
	b.s.Seal(false)
	b.must(b.keeper(nil).Load(t.Context()))
}

// A token that expires is replaced in its file, and nothing starts anew.
func TestToken(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	sealed := b.seal(b.keeper(nil))
	const next = "s.another-token-of-the-test"
	b.s.SetTokens(next)
	k := b.keeper(nil)
	err := k.Load(t.Context())
	if !retake.IsKind(err, retake.Denied) || !strings.Contains(err.Error(), "refuses the token for decrypt") {
		t.Fatalf("an old token: %v", err)
	}
	b.write(b.o.TokenFile, next)
	b.must(k.Load(t.Context()))
	b.wantOpen(k, sealed)
	for what, text := range map[string]string{"nothing": "", "two lines": "a\nb", "a header": "a\r\nX-Other: b", "a book": strings.Repeat("x", 5000)} {
		b.write(b.o.TokenFile, text)
		if err := b.keeper(nil).Load(t.Context()); !retake.IsKind(err, retake.Invalid) || text != "" && strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", what, err)
		}
	}
	b.must(os.Remove(b.o.TokenFile))
	if err := b.keeper(nil).Load(t.Context()); !retake.IsKind(err, retake.NotFound) {
		t.Errorf("no file: %v", err)
	}
}

// When the key server's key was rotated, the data key is sealed again, and old versions may go.
func TestRewrap(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	k := b.keeper(nil)
	sealed := b.seal(k)
	ids, err := k.KeyIDs(t.Context())
	b.must(err)
	if v, err := k.Rewrap(t.Context()); err != nil || v != "v1" {
		t.Fatalf("before a rotation: %q %v", v, err)
	}
	b.s.Rotate()
	control, err := os.ReadFile(b.o.File)
	b.must(err)
	for range 2 {
		if v, err := k.Rewrap(t.Context()); err != nil || v != "v2" {
			t.Fatalf("after a rotation: %q %v", v, err)
		}
	}
	b.s.RetireOldVersions()
	next := b.keeper(nil)
	b.wantOpen(next, sealed)
	if again, err := next.KeyIDs(t.Context()); err != nil || !slices.Equal(again, ids) {
		t.Errorf("the data key is another: %v %v", again, err)
	}
	b.write(b.o.File, string(control)) // the control: as if it had not been sealed again
	if err := b.keeper(nil).Load(t.Context()); !retake.IsKind(err, retake.Denied) || !strings.Contains(err.Error(), "cannot open the data key") {
		t.Errorf("without: %v", err)
	}
}

// Keys from before open, and after the way back the data key opens.
func TestToAKeyServerAndBack(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	key := secretbox.NewKey()
	local, err := secretbox.NewLocalKeeper(key)
	b.must(err)
	old := b.seal(local)
	there := b.keeper(func(o *transit.Options) { o.Local = [][]byte{key} })
	b.s.Seal(true)
	b.wantOpen(there, old) // it needs no key server
	b.s.Seal(false)
	b.wantOpen(there, old)
	sealed := b.seal(there)
	if _, err := local.Open(t.Context(), "p", sealed); !errors.Is(err, secretbox.ErrKey) {
		t.Errorf("the old key opens what is sealed now: %v", err)
	}
	back := b.keeper(func(o *transit.Options) { o.Local, o.OnlyOpens = [][]byte{key}, true })
	b.wantOpen(local, b.seal(back))
	b.wantOpen(back, sealed)
	// What never was at a key server is not put there.
	none := b.keeper(func(o *transit.Options) {
		o.Local, o.OnlyOpens, o.File = [][]byte{key}, true, filepath.Join(t.TempDir(), "kek.sealed")
	})
	b.wantOpen(none, b.seal(none))
	if err := none.Load(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a data key that is not there: %v", err)
	}
}

func TestOptions(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	for _, url := range []string{
		"", "vault", "http://vault:8200/v1/transit/keys/retake", "https://vault:8200", "https://vault:8200/v1/transit/retake", "https://vault/v1/transit/keys/a/b",
		"https://me:secret@vault/v1/transit/keys/retake", "https://vault/v1/transit/keys/retake?x=1", "https://vault/v1/../keys/retake#x", "ftp://vault/v1/transit/keys/retake", "https:///v1/transit/keys/retake",
	} {
		o := b.o
		o.URL = url
		if k, err := transit.New(o); !retake.IsKind(err, retake.Invalid) || k != nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", url, err)
		}
	}
	for _, url := range []string{"https://vault:8200/v1/transit/keys/retake", "https://vault/v1/team/a/transit/keys/k_1.x", "http://127.0.0.1:8200/v1/transit/keys/retake", "http://[::1]:8200/v1/transit/keys/retake", "http://localhost/v1/t/keys/k"} {
		b.keeper(func(o *transit.Options) { o.URL = url })
	}
	for what, c := range map[string]struct {
		change func(*transit.Options)
		want   retake.ErrorKind
	}{
		"no token":       {func(o *transit.Options) { o.TokenFile = "" }, retake.Invalid},
		"no such CA":     {func(o *transit.Options) { o.CAFile += "x" }, retake.NotFound},
		"a CA of words":  {func(o *transit.Options) { o.CAFile = o.TokenFile }, retake.Invalid},
		"no sealing key": {func(o *transit.Options) { o.OnlyOpens = true }, retake.Invalid},
	} {
		o := b.o
		c.change(&o)
		if _, err := transit.New(o); !retake.IsKind(err, c.want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if err := b.keeper(func(o *transit.Options) { o.CAFile = "" }).Load(t.Context()); !retake.IsKind(err, retake.Away) || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate that nobody trusts: %v", err)
	}
	for what, c := range map[string]struct {
		url  string
		kind retake.ErrorKind
	}{
		"another key":   {b.s.URL + "/v1/transit/keys/other", retake.Denied},
		"another mount": {b.s.URL + "/v1/kv/keys/retake", retake.NotFound},
	} {
		if err := b.keeper(func(o *transit.Options) { o.URL = c.url }).Load(t.Context()); !retake.IsKind(err, c.kind) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

// A key server that is none gets nothing out of us, and nothing of it gets into an error.
func TestHostileKeyServer(t *testing.T) {
	t.Parallel()
	const leaked = "aGFuZHMgb2ZmIHRoaXMga2V5IQ"
	reply := func(status int, text string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status); _, _ = w.Write([]byte(text)) }
	}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another address was spoken to") }))
	t.Cleanup(other.Close)
	hang := make(chan struct{})
	t.Cleanup(func() { close(hang) })
	for what, c := range map[string]struct {
		h    http.HandlerFunc
		want retake.ErrorKind
	}{
		"a redirect": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, retake.Invalid},
		"no JSON":          {reply(200, leaked), retake.Damaged},
		"no data":          {reply(200, `{"data":null,"x":"`+leaked+`"}`), retake.Damaged},
		"a short key":      {reply(200, `{"data":{"ciphertext":"vault:v1:AAAA","plaintext":"`+leaked+`"}}`), retake.Damaged},
		"no base64":        {reply(200, `{"data":{"ciphertext":"vault:v1:AAAA","plaintext":"?`+leaked+`"}}`), retake.Damaged},
		"no ciphertext":    {reply(200, `{"data":{"ciphertext":"`+leaked+`"}}`), retake.Damaged},
		"another key":      {reply(200, `{"data":{"ciphertext":"vault:v1:AAAA","plaintext":"`+base64.StdEncoding.EncodeToString(make([]byte, 32))+`"}}`), retake.Damaged},
		"it never ends":    {func(w http.ResponseWriter, _ *http.Request) { endless(w) }, retake.Damaged},
		"it hangs":         {func(http.ResponseWriter, *http.Request) { <-hang }, retake.Away},
		"a fault":          {reply(500, leaked), retake.Away},
		"too many":         {reply(429, leaked), retake.Away},
		"a bad request":    {reply(400, `{"errors":["`+leaked+`"]}`), retake.Denied},
		"a standby":        {reply(473, leaked), retake.Denied},
		"no such question": {reply(405, leaked), retake.Denied},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			b := newBed(t)
			s := httptest.NewServer(c.h)
			t.Cleanup(s.CloseClientConnections)
			k := b.keeper(func(o *transit.Options) {
				o.URL, o.Timeout = s.URL+"/v1/transit/keys/retake", 10*time.Second
				if what == "it hangs" {
					o.Timeout = 50 * time.Millisecond
				}
			})
			err := k.Load(t.Context())
			if !retake.IsKind(err, c.want) {
				t.Errorf("%v, not %s", err, c.want)
			}
			_, runtime := k.Seal(t.Context(), "p", nil)
			for _, text := range []string{err.Error(), runtime.Error(), b.log.String()} {
				if strings.Contains(text, leaked) || strings.Contains(text, transittest.Token) {
					t.Errorf("a secret is in %q", text)
				}
			}
			if !retake.IsKind(runtime, retake.Away) {
				t.Errorf("a request gets %v", runtime)
			}
			if _, err := os.Stat(b.o.File); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("a file was made: %v", err)
			}
		})
	}
}

// endless writes until nobody reads.
func endless(w http.ResponseWriter) {
	for {
		if _, err := w.Write(bytes.Repeat([]byte("{"), 4096)); err != nil {
			return
		}
	}
}

// A file of a data key that was changed is named, and never replaced.
func TestDamagedFile(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	b.must(b.keeper(nil).Load(t.Context()))
	good, err := os.ReadFile(b.o.File)
	b.must(err)
	for _, text := range []string{"", "{}", `{"v":2,"id":"00","sealed":"vault:v1:AAAA"}`, strings.Replace(string(good), `"id":"`, `"id":"0`, 1), strings.Replace(string(good), "vault:v1:", "vault:v1:AAAA", 1)} {
		b.write(b.o.File, text)
		if err := b.keeper(nil).Load(t.Context()); err == nil || retake.IsKind(err, retake.Away) {
			t.Errorf("%s: %v", text, err)
		}
		if now, err := os.ReadFile(b.o.File); err != nil || string(now) != text {
			t.Errorf("the file is now %q %v", now, err)
		}
	}
	b.write(b.o.File, string(good))
	b.must(b.keeper(nil).Load(t.Context()))
}

// A caller that gives up does not take the answer from those that wait.
func TestCallerThatGivesUp(t *testing.T) {
	t.Parallel()
	b := newBed(t)
	k := b.keeper(nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := k.Seal(ctx, "p", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	b.seal(k)
}
