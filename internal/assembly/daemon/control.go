package daemon

import (
	"encoding/json"
	"net/http"
	"net/http/pprof"
	"strconv"

	"github.com/retake-dev/retake/internal/assembly/daemonctl"
)

// routes returns the API and the routes about the daemon itself. The latter never wait for the
// service and do not keep the daemon alive.
func (d *daemon) routes(svc http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/v1/", d.requests.countRequests(d.Clock, d.requireDataDir(d.keepHistory(svc))))
	mux.HandleFunc("GET /daemon/state", func(w http.ResponseWriter, _ *http.Request) {
		d.writeState(w, http.StatusOK)
	})
	mux.HandleFunc("POST /daemon/stop", d.onlyRoot(d.handleStop))
	mux.HandleFunc("POST /daemon/console", d.handleOpenConsole)
	d.addProfiles(mux)
	return mux
}

// addProfiles adds the profiles of this process. Only the user and root are answered on the
// socket; the console does not have them.
func (d *daemon) addProfiles(mux *http.ServeMux) {
	mux.HandleFunc("/debug/pprof/", d.onlyRoot(pprof.Index))
	mux.HandleFunc("/debug/pprof/profile", d.onlyRoot(pprof.Profile))
	mux.HandleFunc("/debug/pprof/trace", d.onlyRoot(pprof.Trace))
}

// requireDataDir hangs up and stops listening if the data directory is gone: the client then
// starts a daemon on the directory that is there now.
func (d *daemon) requireDataDir(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if d.isDataDirLost() {
			d.leaveLostDataDir()
			_ = d.sock.Load().Close() // once is enough
			panic(http.ErrAbortHandler)
		}
		h.ServeHTTP(w, r)
	})
}

// handleStop stops the daemon if the request names this process: another one may answer by
// now.
func (d *daemon) handleStop(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("pid") != strconv.Itoa(d.about.PID) {
		d.writeState(w, http.StatusConflict)
		return
	}
	d.writeState(w, http.StatusAccepted)
	d.requestExit("asked to stop")
}

func (d *daemon) writeState(w http.ResponseWriter, status int) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Connection", "close")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(d.state()) // the asker may be gone
}

func (d *daemon) state() daemonctl.State {
	d.requests.mu.Lock()
	defer d.requests.mu.Unlock()
	return daemonctl.State{
		About: d.about, Exe: d.exe, Socket: d.sock.Load().path, Log: daemonctl.LogPath(d.Conf), Activated: d.sock.Load().activated,
		IdleSince: d.requests.since, InFlight: d.requests.n, Group: d.group,
	}
}
