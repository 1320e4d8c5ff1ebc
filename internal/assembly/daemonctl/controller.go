package daemonctl

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"syscall"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// Controller reaches the daemon of one data directory from another process.
type Controller struct {
	conf  config.Config
	exe   string // the engine's program; "": it was not found
	build Build
}

// New returns the controller of a data directory; it asks nobody yet.
func New(c config.Config, version string) *Controller {
	h := &Controller{conf: c}
	h.exe, h.build = engineBuild(c, version)
	return h
}

const (
	askWait  = 2 * time.Second           // for an answer about itself
	stopWait = FinishWait + 2*GraceAfter // for a daemon that finishes its work
	pollStep = 5 * time.Millisecond      // between two looks at a socket
	soloWait = 10 * time.Second          // for processes that work without a daemon
	wordWait = 10 * time.Second          // for a new daemon to say that it is there
	hangUps  = 10                        // of daemons that leave while they are asked
)

// State asks the daemon about itself; ok is false when there is none. One that
// hangs up was leaving: a moment later it is gone, or the next one answers.
func (h *Controller) State(ctx context.Context) (st State, ok bool, err error) {
	st, err = h.stateNow(ctx)
	for again := 0; isHangUp(err) && again < hangUps && sleepBriefly(ctx) == nil; again++ {
		st, err = h.stateNow(ctx)
	}
	if isAbsent(err) && h.linkSocket(ctx) {
		st, err = h.stateNow(ctx)
	}
	if isAbsent(err) {
		return State{}, false, nil
	}
	return st, err == nil, err
}

func (h *Controller) stateNow(ctx context.Context) (State, error) {
	return h.requestState(ctx, http.MethodGet, "/daemon/state", http.StatusOK)
}

// isAbsent reports whether nothing listens.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED)
}

// isHangUp reports whether a connection was closed without a response.
func isHangUp(err error) bool {
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE)
}

// errOtherDaemon means that not the daemon which was meant answered.
var errOtherDaemon = errors.New("another daemon answers")

func (h *Controller) requestState(ctx context.Context, method, path string, want int) (State, error) {
	var st State
	err := h.requestJSON(ctx, method, path, want, &st)
	return st, err
}

// Stacks returns what each goroutine of the daemon does now, or why that cannot be said.
func (h *Controller) Stacks(ctx context.Context) []byte {
	var out bytes.Buffer
	err := h.request(ctx, http.MethodGet, "/debug/pprof/goroutine?debug=2", http.StatusOK, func(r io.Reader) error {
		_, err := out.ReadFrom(io.LimitReader(r, maxStacks))
		return err
	})
	if err != nil {
		return []byte(err.Error() + "\n")
	}
	return out.Bytes()
}

const maxStacks = 8 << 20

// requestJSON asks the daemon about itself; the answer is read into out.
func (h *Controller) requestJSON(ctx context.Context, method, path string, want int, out any) error {
	return h.request(ctx, method, path, want, func(r io.Reader) error { return json.NewDecoder(r).Decode(out) })
}

func (h *Controller) request(ctx context.Context, method, path string, want int, take func(io.Reader) error) error {
	if err := h.conf.CheckSocketDir(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	c := &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", h.conf.Socket)
		},
	}}
	req, err := http.NewRequestWithContext(ctx, method, "http://daemon"+path, nil)
	if err != nil {
		return fmt.Errorf("ask the daemon: %w", err)
	}
	resp, err := c.Do(req)
	if errors.Is(err, context.DeadlineExceeded) {
		return &retake.Error{Kind: retake.Away, What: "the daemon does not answer", Safe: unchanged, Hint: "stop it, the next command starts another: retake daemon stop", Err: err}
	}
	if err != nil {
		return fmt.Errorf("ask the daemon: %w", err)
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	if resp.StatusCode == http.StatusConflict {
		return errOtherDaemon
	}
	if resp.StatusCode == http.StatusForbidden {
		return &retake.Error{Kind: retake.Denied, What: "only root can control a system daemon", Safe: unchanged, Hint: "run the same command with sudo"}
	}
	if resp.StatusCode != want {
		return fmt.Errorf("ask the daemon: it answers %s", resp.Status)
	}
	if err := take(resp.Body); err != nil {
		return fmt.Errorf("ask the daemon: %w", err)
	}
	return nil
}

// Stop asks the daemon to leave and waits until it has; its process id, or 0 when
// there was none. One that does not answer gets a signal.
func (h *Controller) Stop(ctx context.Context) (pid int, err error) {
	st, ok, err := h.State(ctx)
	r, known := ReadRecord(h.conf)
	if !ok && !known {
		return 0, err
	}
	locks, lerr := Locks(h.conf)
	if lerr != nil {
		return 0, lerr
	}
	if ok {
		return st.About.PID, h.stopProcess(ctx, locks, st.About.PID)
	}
	if LockHolder(locks) != HeldByDaemon {
		return 0, nil
	}
	if err := proc.Terminate(r.PID); err != nil && !errors.Is(err, syscall.ESRCH) {
		return 0, err
	}
	return r.PID, h.waitUntilGone(ctx, locks, r.PID)
}

// stopProcess asks one process to leave. One that hangs up was leaving already, and
// where another one answers it has left.
func (h *Controller) stopProcess(ctx context.Context, locks fsx.Locks, pid int) error {
	_, err := h.requestState(ctx, http.MethodPost, "/daemon/stop?"+url.Values{"pid": {strconv.Itoa(pid)}}.Encode(), http.StatusAccepted)
	if err != nil && !isAbsent(err) && !isHangUp(err) && !errors.Is(err, errOtherDaemon) {
		return err
	}
	return h.waitUntilGone(ctx, locks, pid)
}

// waitUntilGone waits until a daemon has finished and its process has ended.
func (h *Controller) waitUntilGone(ctx context.Context, locks fsx.Locks, pid int) error {
	ctx, cancel := context.WithTimeout(ctx, stopWait)
	defer cancel()
	for {
		release, err := tryLock(locks, false)
		if err == nil {
			release()
			break
		}
		if !errors.Is(err, fsx.ErrLocked) {
			return err
		}
		if r, ok := ReadRecord(h.conf); ok && r.PID != pid {
			break // the next one has the lock already
		}
		if sleepBriefly(ctx) != nil {
			return &retake.Error{
				Kind: retake.Busy, What: fmt.Sprintf("the daemon with process id %d still finishes its work", pid),
				Safe: "It takes no new work and leaves when it is done.", Err: err,
			}
		}
	}
	if pid == os.Getpid() {
		return nil
	}
	return proc.WaitGone(ctx, pid)
}

// TakeOver replaces a daemon that is older than this program. Its record is enough
// to see that there is nothing to do. Who is older and finds no daemon meanwhile
// waits for the same lock, and so starts none between the two.
func (h *Controller) TakeOver(ctx context.Context) error {
	r, ok := ReadRecord(h.conf)
	if !ok || !h.build.Newer(Build{r.Version, r.Stamp}) {
		return nil
	}
	locks, err := Locks(h.conf)
	if err != nil {
		return err
	}
	release, err := h.lockStart(ctx, locks)
	if err != nil {
		return err
	}
	defer release()
	st, ok, err := h.State(ctx)
	if err != nil || !ok || !h.build.Newer(Build{st.About.Version, st.About.Stamp}) {
		return err
	}
	if st.Activated && st.Exe != h.exe {
		return nil // the service manager would only start the same one again
	}
	if !h.engineFits(ctx) {
		return nil // the daemon that runs goes on
	}
	if err := h.stopProcess(ctx, locks, st.About.PID); err != nil || st.Activated {
		return err
	}
	return h.ensureRunningLocked(ctx, locks)
}

// Console asks the daemon to open the console; ws, if there is one, is what it shows.
func (h *Controller) Console(ctx context.Context, ws retake.WorkspaceID) (Opening, error) {
	var o Opening
	err := h.requestJSON(ctx, http.MethodPost, "/daemon/console?"+url.Values{"workspace": {string(ws)}}.Encode(), http.StatusOK, &o)
	if err != nil {
		return o, &retake.Error{Kind: retake.Away, What: "the daemon does not open the console", Safe: unchanged, Hint: "see its log: " + LogPath(h.conf), Err: err}
	}
	if _, err := strconv.Atoi(addressPort(o.URL)); err != nil {
		return o, fmt.Errorf("open the console: the daemon answers %q", o.URL)
	}
	return o, nil
}

func addressPort(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Port()
}
