package cli_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/ui/cli"
)

func tracked(t retake.Tracking) []string {
	st := retake.Status{Workspace: retake.Workspace{Name: "shopfront", Root: "/w"}, Tracking: t, Protection: "remote"}
	var out []string
	for line := range strings.Lines(cli.RenderStatus(cli.NewLook(80, now, false, false), st)) {
		out = append(out, strings.TrimSuffix(line, "\n"))
	}
	return out[4 : len(out)-2]
}

func TestStatusSaysHowChangesAreKnown(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tracking retake.Tracking
		want     []string
	}{
		"scan": {
			retake.Tracking{Mode: retake.TrackingScan, Why: "no tracker runs\x1b[2J"},
			[]string{`    tracking    scan, every save looks at every file`, `                no tracker runs\x1b[2J`},
		},
		"tracker": {
			retake.Tracking{Mode: retake.TrackingFanotify, Events: 1204, Doubts: 1, Check: &retake.CrossCheck{At: at(11, 30), Files: 38799}},
			[]string{`  ✔ tracking    fanotify · 1,204 changes seen · 1 doubt · checked 11:30, 38,799`, `                files`},
		},
		"missed": {
			retake.Tracking{Mode: retake.TrackingInotify, Check: &retake.CrossCheck{At: at(11, 30), Files: 9, Missed: []string{"a", "b\n", "c", "d", "e", "f", "g"}}},
			[]string{
				`  ✘ tracking    INOTIFY MISSED 7 files at 11:30`,
				`                a`, `                b\n`, `                c`, `                d`, `                e`,
				`                2 more, all in --json`, `                the next save checks every file; please report this`,
			},
		},
	} {
		if got := tracked(c.tracking); strings.Join(got, "\n") != strings.Join(c.want, "\n") {
			t.Errorf("%s: got\n%s\nwant\n%s", name, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestDaemonStatusText(t *testing.T) {
	t.Parallel()
	st := cli.DaemonState{
		About:  retake.About{Version: "1.2.0", PID: 4711, Started: at(9, 41), Home: "/home/ann/.local/share/retake"},
		Socket: "/run/user/1000/retake/daemon.sock", Log: "/home/ann/.local/share/retake/daemon.log",
		Activated: true, InFlight: 2, Group: "memory /job/1: what ends that group ends the daemon; cpu /job/1: the same",
	}
	same(t, cli.RenderDaemon(cli.NewLook(80, now, false, false), st),
		`● running   since 09:41 · process 4711 · version 1.2.0 · started by the service manager`,
		`  work      2 requests in flight`,
		`  store     ~/.local/share/retake`,
		`  socket    /run/user/1000/retake/daemon.sock`,
		`  log       ~/.local/share/retake/daemon.log`,
		`! group     it stays in the control group of its starter, and ends with it`,
		`            memory /job/1: what ends that group ends the daemon`,
		`            cpu /job/1: the same`,
		`            Let systemd start it:  retake daemon install`,
		`            Let it leave:          retake config daemon-cgroup leave`,
	)
}

// gone is a service whose asker left while a save was in flight.
type gone struct{ retake.Service }

func (g gone) Save(context.Context, retake.SaveRequest) (retake.SaveResult, error) {
	return retake.SaveResult{}, &retake.Error{Kind: retake.Canceled, What: "stopped", Safe: "It is not certain.", Err: context.Canceled}
}

func TestWhoDoesNotWaitHearsThatTheDaemonDoes(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.types("", "init").want(t, 0, "", "")
	p.wrap = func(s retake.Service) retake.Service { return gone{s} }
	p.types("", "save").want(t, 130, "", "The daemon continues with it; earlier checkpoints are intact.")
	p.types("", "save", "--solo").want(t, 130, "", "It is not certain.")
	if !p.solo {
		t.Error("--solo is not asked for")
	}
}

// keeper is a daemon that a test looks after.
type keeper struct {
	cli.Daemon
	pid int
	err error
}

func (k keeper) Stop(context.Context) (int, error) { return k.pid, k.err }
func (k keeper) Status(context.Context) (cli.DaemonState, bool, error) {
	return cli.DaemonState{About: retake.About{PID: k.pid, Started: time.Unix(1, 0)}}, k.pid != 0, k.err
}

func TestDaemonCommandsOpenNothing(t *testing.T) {
	t.Parallel()
	p := newPerson(t)
	p.daemon = keeper{}
	p.types("", "daemon", "status").want(t, 0, "No daemon runs. The next command that needs one starts it.\n", "")
	p.types("", "daemon", "stop").want(t, 0, "No daemon runs.\n", "")
	p.daemon = keeper{pid: 7}
	p.types("", "daemon", "stop").want(t, 0, "The daemon has stopped: process 7.\n", "")
	p.types("", "daemon", "status", "--json").want(t, 0, `{"v":1,"running":true,"about":{`, "")
	p.daemon = keeper{err: &retake.Error{Kind: retake.Busy, What: "it still works", Err: errors.New("x")}}
	p.types("", "daemon", "stop").want(t, 11, "", "It still works.")
	p.types("", "daemon").want(t, 0, "whether the daemon runs", "")
	if p.opens != 0 {
		t.Fatalf("the service was opened %d times", p.opens)
	}
}
