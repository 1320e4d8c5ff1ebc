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

// mayAnyone reports whether the user of a system daemon may ask for an operation: it reads, adds or brings
// back, and loses nothing. What is not listed is for root, until somebody has thought about it.
func mayAnyone(power retake.Power, operation string) bool {
	switch power {
	case retake.PowerNone, retake.PowerSee, retake.PowerRecord, retake.PowerReturn:
		return true
	case retake.PowerDecide, retake.PowerMaintain:
		return harmless[operation]
	default:
		return false
	}
}

// harmless are the operations of the two powers that lose nothing.
var harmless = map[string]bool{"init": true, "import": true, "approve": true, "pin": true, "hold": true, "back-up": true, "scrub": true, "proof": true,
	"list-remotes": true, "sync-remotes": true, "check-remote": true}

// keepHistory lets only root ask a system daemon for what loses history: an agent runs as the user,
// and could ask for everything that he may.
func (d *daemon) keepHistory(h http.Handler) http.Handler {
	if d.Conf.System == 0 {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		power, id, ok := httpapi.PermissionOf(r)
		if ok && !mayAnyone(power, id) && r.Context().Value(rootKey{}) == nil {
			httpapi.WriteProblem(w, r, errOnlyRoot("only root can ask a system daemon for what may lose history"), 0)
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
