package daemon

import (
	"context"
	"net"
	"net/http"
	"os"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/proc"
	"github.com/retake-dev/retake/internal/ui/httpapi"
)

// callerUID is the user whose history this daemon keeps. A system daemon runs as another user.
func (d *daemon) callerUID() int {
	if d.Conf.System > 0 {
		return d.Conf.System
	}
	return os.Getuid()
}

// rootKey marks the context of a connection that root has made.
type rootKey struct{}

// markRoot notes who made a connection to the socket.
func markRoot(ctx context.Context, c net.Conn) context.Context {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return ctx
	}
	if uid, err := proc.PeerUID(u); err != nil || uid != 0 {
		return ctx
	}
	return context.WithValue(ctx, rootKey{}, true)
}

// losesHistory are the operations that delete history or end its protection, beside all that need the
// permission to erase.
var losesHistory = map[string]bool{
	"deinit": true, "unpin": true, "release": true, "set-backup": true, "drop-backup": true, "thin": true, "sweep": true, "rebuild": true,
}

// keepHistory lets only root ask a system daemon for what loses history: an agent runs as the user,
// and could ask for everything that he may.
func (d *daemon) keepHistory(h http.Handler) http.Handler {
	if d.Conf.System == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		power, id, ok := httpapi.PermissionOf(r)
		if ok && (power == retake.PowerErase || losesHistory[id]) && r.Context().Value(rootKey{}) == nil {
			httpapi.WriteProblem(w, r, errOnlyRoot("only root can delete history of a system daemon, or end its protection"), 0)
			return
		}
		h.ServeHTTP(w, r)
	})
}

// onlyRoot lets only root ask a system daemon.
func (d *daemon) onlyRoot(h http.HandlerFunc) http.HandlerFunc {
	if d.Conf.System == 0 {
		return h
	}
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Context().Value(rootKey{}) == nil {
			httpapi.WriteProblem(w, r, errOnlyRoot("only root can control a system daemon"), 0)
			return
		}
		h(w, r)
	}
}

func errOnlyRoot(what string) error {
	return &retake.Error{Kind: retake.Denied, What: what, Safe: unchanged, Hint: "run the same command with sudo"}
}
