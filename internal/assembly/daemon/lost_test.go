package daemon_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A daemon whose data directory is deleted or replaced leaves although nobody asks it
// anything, says why, and does not stand in the way of the next.
func TestX8_DaemonLeavesWhenItsHomeIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(t *testing.T, data string) (log string){
		"deleted": func(t *testing.T, data string) string {
			must(t, os.RemoveAll(data))
			return ""
		},
		"moved away": func(t *testing.T, data string) string {
			must(t, os.Rename(data, data+".old"))
			return filepath.Join(data+".old", "daemon.log")
		},
		"replaced": func(t *testing.T, data string) string {
			must(t, os.Rename(data, data+".old"))
			must(t, os.Mkdir(data, 0o700))
			return filepath.Join(data, "daemon.log")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			must(t, h.settings.Set("daemon-idle", "0s"))
			h.begin(h.solo)
			_, err := h.client().Workspaces(t.Context()) // its service is open
			must(t, err)
			log := lose(t, h.conf.DataDir)
			_ = wait(t, h.ended) // what it could not close is gone
			if log != "" {
				text, err := os.ReadFile(log)
				must(t, err)
				if !strings.Contains(string(text), "the data directory was deleted or replaced") {
					t.Errorf("its log says\n%s", text)
				}
			}
			if word := h.begin(h.solo); word != "ready" {
				t.Fatalf("the next one says %q", word)
			}
			_, err = h.client().Workspaces(t.Context())
			must(t, err)
			must(t, h.end())
		})
	}
}

// A daemon whose socket, or the directory of it, is removed makes it again: commands reach it, and
// it is the same daemon. A logout does that, and so do programs that clean up temporary files.
func TestADaemonMakesItsSocketAgain(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(h *house) error{
		"socket":    func(h *house) error { return os.Remove(h.conf.Socket) },
		"directory": func(h *house) error { return os.RemoveAll(h.conf.SocketDir) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			must(t, h.settings.Set("daemon-idle", "0s"))
			h.begin(h.solo)
			_, err := h.client().Workspaces(t.Context())
			must(t, err)
			for range 2 {
				must(t, lose(h))
				waitFor(t, func() bool { // it has a name before it is listened to
					_, err := h.client().Workspaces(t.Context())
					return err == nil
				})
			}
			must(t, h.end())
		})
	}
}

// waitFor asks until something is so.
func waitFor(t *testing.T, so func() bool) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); !so(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("it never came to be")
		}
	}
}
