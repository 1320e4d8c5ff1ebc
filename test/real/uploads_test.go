//go:build s3 && ssh

package real_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/webdav"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/internal/service"
	"github.com/retake-dev/retake/internal/storage/store/kopia"
	"github.com/retake-dev/retake/internal/storage/store/replica"
	"github.com/retake-dev/retake/internal/storage/store/replica/places"
	"github.com/retake-dev/retake/test/parts"
	"github.com/retake-dev/retake/test/real"
)

// machine is a machine with one workspace, which has one file. Its home is the service's alone.
type machine struct {
	*testing.T
	s     *service.Service
	home  string
	work  string
	ws    retake.WorkspaceID
	texts []string // of the file, by the number of the checkpoint
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	m := &machine{T: t, home: t.TempDir(), work: t.TempDir()}
	m.open()
	t.Cleanup(func() { _ = m.s.Close() })
	m.write("the first text")
	res, err := m.s.Init(t.Context(), retake.InitRequest{Dir: m.work})
	must(t, err)
	m.ws = res.Workspace.ID
	m.texts = []string{"", "the first text"}
	return m
}

func (m *machine) open() {
	m.Helper()
	set, err := config.Load(filepath.Join(m.home, "config.json"))
	must(m.T, err)
	c := config.Config{DataDir: m.data(), Home: "/nobody", BootID: "this run"}
	m.s, err = assemble.OpenService(m.Context(), c, set, assemble.Options{Exclusive: true, Derivation: derivation, Track: track.Options{TrustUnreadable: true}})
	must(m.T, err)
}

func (m *machine) data() string { return filepath.Join(m.home, "data") }

func (m *machine) write(text string) {
	m.Helper()
	must(m.T, os.WriteFile(filepath.Join(m.work, "a"), []byte(text), 0o600))
}

// save saves one more text and returns how long that took.
func (m *machine) save() time.Duration {
	m.Helper()
	text := fmt.Sprint(len(m.texts), " ", strings.Repeat(strconv.FormatUint(rand.Uint64(), 36), 1<<rand.IntN(15)))
	m.write(text)
	begun := time.Now()
	res, err := m.s.Save(m.Context(), retake.SaveRequest{Workspace: m.ws})
	took := time.Since(begun)
	must(m.T, err)
	if n := res.Checkpoint.Number; n != int64(len(m.texts)) {
		m.Fatalf("checkpoint %d, want %d", n, len(m.texts))
	}
	m.texts = append(m.texts, text)
	return took
}

func (m *machine) remote() retake.Remote {
	m.Helper()
	all, err := m.s.Remotes(m.Context())
	must(m.T, err)
	if len(all) != 1 || len(all[0].Workspaces) != 1 {
		m.Fatalf("remotes: %+v", all)
	}
	return all[0]
}

func (m *machine) uploaded() int64 {
	m.Helper()
	return m.remote().Workspaces[0].Uploaded
}

// lose throws the machine away. What is left is the recovery key, as a person keeps it.
func (m *machine) lose() string {
	m.Helper()
	key, err := assemble.CopyKey(config.Config{DataDir: m.data()})
	must(m.T, err)
	must(m.T, m.s.Close())
	must(m.T, os.RemoveAll(m.home))
	return key
}

// findCopy finds the one copy at an address with nothing but the key.
func findCopy(t *testing.T, typed string, req retake.RemoteRequest) *kopia.Store {
	t.Helper()
	password, err := kopia.DecodeCopyKey(typed)
	must(t, err)
	family, err := kopia.FamilyOf(password)
	must(t, err)
	key, err := kopia.ReplicaSealer(password)
	must(t, err)
	at, err := places.ParseAddress(req.URL, time.Now)
	must(t, err)
	list, err := at.Open(t.Context(), replica.Copies(family), req.Access)
	must(t, err)
	defer list.Close()
	stores, err := replica.Stores(t.Context(), list, key)
	if err != nil || len(stores) != 1 {
		t.Fatalf("stores: %v %v", stores, err)
	}
	place, err := at.Open(t.Context(), replica.CopyOf(family, stores[0].Store), req.Access)
	must(t, err)
	t.Cleanup(func() { _ = place.Close() })
	h, err := replica.ReadHead(t.Context(), place, key)
	must(t, err)
	s, err := kopia.Open(t.Context(), kopia.Options{
		Dir: t.TempDir(), FS: fsx.OS(), Locks: fsx.NewLocks(t.TempDir()), Clock: clock.Wall, Password: password,
		Copy: &kopia.CopyOptions{Indexes: h.Indexes, Clock: h.Clock, Get: place.Get},
	})
	must(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// compare reads the checkpoints up to a number and returns those that are not there as they were saved.
func (m *machine) compare(back *kopia.Store, through int64) (failed []string) {
	for n := int64(1); n <= through; n++ {
		text, err := readOne(context.WithoutCancel(m.Context()), back, m.ws, n)
		if err != nil || n >= int64(len(m.texts)) || text != m.texts[n] {
			failed = append(failed, fmt.Sprintf("checkpoint %d: %d bytes: %v", n, len(text), err))
		}
	}
	return failed
}

// remoteKinds returns a new remote of each kind.
var remoteKinds = map[string]func(t *testing.T) retake.RemoteRequest{
	"s3": func(t *testing.T) retake.RemoteRequest { return s3Remote(real.StartS3(t)) },
	"sftp": func(t *testing.T) retake.RemoteRequest {
		host := real.StartSshd(t)
		return sftpRemote(t, host, host.Port)
	},
	"webdav": func(t *testing.T) retake.RemoteRequest { return davRemote(t, "of-the-yard") },
}

// davRemote is a directory of a WebDAV server that asks for a password.
func davRemote(t *testing.T, password string) retake.RemoteRequest {
	t.Helper()
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "below"), 0o700)) // nobody makes it: a disk may not be mounted there
	files := &webdav.Handler{FileSystem: webdav.Dir(dir), LockSystem: webdav.NewMemLS()}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, got, _ := r.BasicAuth(); got != password {
			w.Header().Set("WWW-Authenticate", `Basic realm="yard"`)
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	return retake.RemoteRequest{Name: "far", URL: "webdav+" + s.URL + "/below", Access: retake.RemoteAccess{User: "opener", Secret: password}}
}

func s3Remote(s *real.S3) retake.RemoteRequest {
	return retake.RemoteRequest{
		Name: "far", URL: "s3://" + s.Name + "/below",
		Access: retake.RemoteAccess{Endpoint: "http://" + s.Endpoint, Region: s.Region, User: s.AccessKey, Secret: s.SecretKey},
	}
}

// sftpRemote is a directory of a host, which is reached at a port.
func sftpRemote(t *testing.T, host *real.Sshd, port int) retake.RemoteRequest {
	t.Helper()
	at := sftpOf(t, host, host.Root)
	return retake.RemoteRequest{
		Name: "far", URL: fmt.Sprintf("sftp://%s@127.0.0.1:%d%s", host.User, port, host.Root),
		Access: retake.RemoteAccess{PrivateKey: string(at.PrivateKey), KnownHosts: fmt.Sprintf("[127.0.0.1]:%d %s\n", port, host.Key)},
	}
}

// The machine is lost. With the key and the address all of it comes back.
func TestMachineIsLost(t *testing.T) {
	t.Parallel()
	for kind, start := range remoteKinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			m, req := newMachine(t), start(t)
			_, err := m.s.AddRemote(t.Context(), req)
			must(t, err)
			for range 12 {
				m.save()
				if len(m.texts)%4 == 0 {
					_, err := m.s.SyncRemotes(t.Context(), retake.SyncQuery{})
					must(t, err)
				}
			}
			_, err = m.s.SyncRemotes(t.Context(), retake.SyncQuery{})
			must(t, err)
			last := int64(len(m.texts) - 1)
			if r := m.remote(); r.Pending != 0 || r.Trouble != nil || m.uploaded() != last {
				t.Errorf("after the upload: %+v", r)
			}
			c, err := m.s.CheckRemote(t.Context(), retake.RemoteCheckQuery{Name: "far", Share: 1})
			if err != nil || c.Checkpoints != last || len(c.Failed) > 0 {
				t.Errorf("read back: %+v %v", c, err)
			}
			failed := m.compare(findCopy(t, m.lose(), req), last)
			t.Logf("%d checkpoints tried, %d failed", last, len(failed))
			for _, f := range failed {
				t.Error(f)
			}
		})
	}
}

// A gateway is killed, and a line cut, while checkpoints are saved and uploaded. Whatever was said to be uploaded
// is in the copy.
func TestUploadsThatAreCut(t *testing.T) {
	t.Parallel()
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		s := real.StartS3(t)
		uploadToWhatIsCut(t, s, s3Remote(s), s.Stop)
	})
	t.Run("sftp", func(t *testing.T) {
		t.Parallel()
		host := real.StartSshd(t)
		line, err := parts.StartProxy(fmt.Sprintf("127.0.0.1:%d", host.Port))
		must(t, err)
		defer line.Close()
		_, port, err := net.SplitHostPort(line.Address())
		must(t, err)
		n, err := strconv.Atoi(port)
		must(t, err)
		// The copy is read over a line of its own: in the end nobody answers at this one.
		uploadToWhatIsCut(t, cutLine{line}, sftpRemote(t, host, n), func() { _ = line.Close() }, host.Port)
	})
}

// uploadToWhatIsCut uploads to a host that is cut at least CUTS times. Then it ends for good, and one more
// checkpoint is saved, which is not there: who demands it from the copy has to be told so.
func uploadToWhatIsCut(t *testing.T, host cutHost, req retake.RemoteRequest, endForGood func(), readAt ...int) {
	least, err := strconv.Atoi(os.Getenv("CUTS"))
	if err != nil {
		least = 20
	}
	m := newMachine(t)
	_, err = m.s.AddRemote(t.Context(), req)
	must(t, err)
	noted, cuts, synced, failed := int64(0), 0, 0, 0
	for round := uint64(0); cuts < least; round++ {
		end := cut(t, host, round)
		for range 8 {
			m.save()
			noted = max(noted, m.uploaded())
			if _, err := m.s.SyncRemotes(t.Context(), retake.SyncQuery{}); err != nil {
				failed++
			}
			synced++
			noted = max(noted, m.uploaded())
		}
		cuts += end()
	}
	endForGood()
	m.save()
	last := int64(len(m.texts) - 1)
	if noted = max(noted, m.uploaded()); noted >= last {
		t.Errorf("checkpoint %d was never uploaded, and %d are said to be", last, noted)
	}
	key := m.lose()
	if s, ok := host.(*real.S3); ok {
		must(t, s.Start())
	}
	for _, port := range readAt {
		req = atPort(req, port)
	}
	back := findCopy(t, key, req)
	wrong := m.compare(back, noted)
	for _, f := range wrong {
		t.Error(f)
	}
	t.Logf("%d cuts, %d saves, %d of %d uploads failed; %d checkpoints that counted as uploaded tried, %d failed", cuts, last, failed, synced, noted, len(wrong))
	if lies := m.compare(back, last); len(lies) == len(wrong) {
		t.Error("nobody notices that a checkpoint is not there which never was")
	}
	if noted < last/4 {
		t.Errorf("%d of %d were uploaded: too few to show anything", noted, last)
	}
}

// atPort is the same remote at another port of this machine.
func atPort(req retake.RemoteRequest, port int) retake.RemoteRequest {
	_, rest, _ := strings.Cut(req.URL, "@127.0.0.1:")
	old, _, _ := strings.Cut(rest, "/")
	req.URL = strings.Replace(req.URL, ":"+old, fmt.Sprint(":", port), 1)
	req.Access.KnownHosts = strings.Replace(req.Access.KnownHosts, ":"+old, fmt.Sprint(":", port), 1)
	return req
}
