package assemble_test

import (
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/agents/queue"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/explain/xray"
	"github.com/retake-dev/retake/internal/platform/clock"
	"github.com/retake-dev/retake/internal/platform/proc"
)

// A program that runs in a fork at another path is ours in between, and so is a child that
// reads.
func TestMain(m *testing.M) {
	if handled, exit := proc.RunHelper(os.Args[1:]); handled {
		os.Exit(exit)
	}
	if len(os.Args) == 2 && os.Args[1] == "xray" { // as the child that reads what files mean
		proc.EnterSandbox(xray.Cage)
		if xray.Serve(os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func (d *desk) until(what string, f func() bool) {
	d.Helper()
	for end := clock.Wall.Now().Add(30 * time.Second); !f(); <-time.After(5 * time.Millisecond) {
		if clock.Wall.Now().After(end) {
			d.Fatalf("%s: it never came", what)
		}
	}
}

func (d *desk) signal(kind retake.SignalKind, prompt string) {
	d.Helper()
	u, err := uuid.NewV7()
	must(d.T, err)
	_, err = d.s.Observe(d.Context(), retake.Signal{
		ID: retake.SignalID(retake.SignalPrefix + u.String()), Kind: kind, Time: clock.Wall.Now(), Agent: "claude-code",
		Session: "s1", Turn: "t-" + prompt, Dir: d.at("shop"), Prompt: prompt,
	})
	must(d.T, err)
}

// answers are those about the newest checkpoint.
func (d *desk) answers() []retake.Answer {
	tl, err := d.s.Log(d.Context(), retake.LogQuery{Workspace: d.ws, Limit: 1})
	must(d.T, err)
	return tl.Findings[tl.Checkpoints[0].ID].Answers
}

// What is standing is asked after every turn, in the background, and makes checkpoints good.
func TestStandingIsAskedAfterATurn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, assemble.Options{})
	must(t, d.set.Set("verify.test", "test -f ok"))
	must(t, d.set.Set("verify.lint", "true"))
	turn := func(prompt string, work func(), want retake.Verdict) {
		t.Helper()
		d.signal(retake.SignalPrompt, prompt)
		work()
		d.signal(retake.SignalTurnEnd, prompt)
		d.until("the answer", func() bool {
			return slices.ContainsFunc(d.answers(), func(a retake.Answer) bool { return a.Name == "test" && a.Verdict == want })
		})
	}
	turn("make it", func() { d.write("shop/ok", "yes") }, retake.Passed)
	good, err := d.s.Find(t.Context(), d.ws, "good")
	must(t, err)
	turn("break it", func() { must(t, os.Remove(d.at("shop/ok"))) }, retake.Failed)
	if cp, err := d.s.Find(t.Context(), d.ws, "good"); err != nil || cp.ID != good.ID {
		t.Errorf("good is %d (%v), want %d", cp.Number, err, good.Number)
	}
}

// The next prompt ends a run, and what it would have said is not recorded.
func TestPromptEndsTheRun(t *testing.T) {
	t.Parallel()
	d := newDesk(t, assemble.Options{})
	pid := d.at("pid")
	must(t, d.set.Set("verify.test", "echo $$ > "+pid+"; sleep 600"))
	d.write("shop/a", "2")
	d.save(retake.SaveRequest{})
	d.until("it runs", func() bool {
		text, err := os.ReadFile(pid) // the shell creates it before it writes it
		return err == nil && len(text) > 0 && slices.ContainsFunc(d.answers(), func(a retake.Answer) bool { return a.Verdict == retake.Running })
	})
	d.signal(retake.SignalPrompt, "go on")
	d.until("it ends", func() bool {
		text, err := os.ReadFile(pid)
		n, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return err == nil && n > 0 && !proc.IsAlive(n)
	})
	list, err := d.s.Verifications(t.Context(), retake.VerificationQuery{Workspace: d.ws})
	must(t, err)
	if len(list) != 0 {
		t.Errorf("an ended run was recorded: %+v", list)
	}
}

// A drill asks the good checkpoint in a fork; the live files, which are another state by
// then, stay as they are.
func TestDrill(t *testing.T) {
	t.Parallel()
	d := newDesk(t, assemble.Options{})
	if _, err := d.s.Drill(t.Context(), d.ws); !retake.IsKind(err, retake.NotFound) {
		t.Errorf("a drill without a good checkpoint: %v", err)
	}
	must(t, d.set.Set("verify.test", "grep -q good a"))
	d.write("shop/a", "good")
	d.save(retake.SaveRequest{})
	d.until("it is good", func() bool {
		_, err := d.s.Find(t.Context(), d.ws, "good")
		return err == nil
	})
	d.write("shop/a", "broken")
	got, err := d.s.Drill(t.Context(), d.ws)
	must(t, err)
	if got.Verdict != retake.Passed {
		t.Errorf("the drill says %+v", got)
	}
	if b, err := os.ReadFile(d.at("shop/a")); err != nil || string(b) != "broken" {
		t.Errorf("the live file holds %q (%v)", b, err)
	}
	st, err := d.s.Status(t.Context(), d.ws)
	must(t, err)
	if st.Drill == nil || st.Drill.Number != got.Number {
		t.Errorf("status tells of %+v", st.Drill)
	}
	list, err := d.s.Verifications(t.Context(), retake.VerificationQuery{Workspace: d.ws, Ref: "good", Limit: 1})
	must(t, err)
	if len(list) != 1 || list[0].Where == retake.OnLive {
		t.Errorf("the newest answer is not that of the drill: %+v", list)
	}
}

// What changes on the machine between two checkpoints is told with the second, and is still
// told when the catalog was made again.
func TestMachineIsTold(t *testing.T) {
	t.Parallel()
	held := clock.NewManual(clock.Wall.Now())
	d := newDesk(t, assemble.Options{Clock: held})
	mentions := func(port string) int {
		list, err := d.s.Chronicle(t.Context(), retake.ChronicleQuery{Workspace: d.ws, Kind: retake.FactPort, Name: "tcp " + port})
		must(t, err)
		return len(list)
	}
	// Only ports of programs that an agent started are told, so this process is one.
	_, err := d.s.Observe(t.Context(), retake.Signal{
		ID: queue.NewID(), Kind: retake.SignalSessionStart, Time: held.Now(), Agent: "claude-code", Session: "s1", Dir: d.at("shop"), PID: os.Getpid(),
	})
	must(t, err)
	// The first looks only tell what there is, so one more port is opened with each checkpoint.
	var ports []string
	told := ""
	d.until("a port is told", func() bool {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		must(t, err)
		t.Cleanup(func() { _ = l.Close() })
		_, port, _ := net.SplitHostPort(l.Addr().String())
		ports = append(ports, port)
		held.Advance(time.Minute)
		d.save(retake.SaveRequest{})
		if i := slices.IndexFunc(ports, func(p string) bool { return mentions(p) > 0 }); i >= 0 {
			told = ports[i]
		}
		return told != ""
	})
	_, err = d.s.Rebuild(t.Context())
	must(t, err)
	d.until("rebuilt, it is told again", func() bool {
		_, err := d.s.Log(t.Context(), retake.LogQuery{Workspace: d.ws})
		must(t, err)
		return mentions(told) > 0
	})
}
