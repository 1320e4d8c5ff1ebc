package assemble_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/assembly/assemble"
	"github.com/retake-dev/retake/internal/platform/config"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/platform/track"
	"github.com/retake-dev/retake/internal/service"
)

// desk is a service as the daemon has it, with one workspace.
type desk struct {
	*testing.T
	s    *service.Service
	set  *config.Settings
	area string
	ws   retake.WorkspaceID
}

func newDesk(t *testing.T, o assemble.Options) *desk {
	t.Helper()
	home := t.TempDir()
	d := &desk{T: t, area: t.TempDir()}
	var err error
	d.set, err = config.Load(filepath.Join(home, "config.json"))
	must(t, err)
	o.Exclusive, o.Derivation = true, derivation
	if o.Track == (track.Options{}) {
		o.Track.TrustUnreadable = true
	}
	c := config.Config{DataDir: filepath.Join(home, "data"), Home: "/nobody", BootID: "this run"}
	d.s, err = assemble.OpenService(t.Context(), c, d.set, o)
	must(t, err)
	t.Cleanup(func() { _ = d.s.Close() })
	must(t, os.Mkdir(d.at("shop"), 0o755))
	d.write("shop/a", "1")
	d.write("shop/dir/b", "1")
	res, err := d.s.Init(t.Context(), retake.InitRequest{Dir: d.at("shop")})
	must(t, err)
	d.ws = res.Workspace.ID
	d.save(retake.SaveRequest{})
	return d
}

func (d *desk) at(name string) string { return filepath.Join(d.area, name) }

func (d *desk) write(name, text string) {
	d.Helper()
	must(d.T, os.MkdirAll(filepath.Dir(d.at(name)), 0o755))
	must(d.T, os.WriteFile(d.at(name), []byte(text), 0o644))
}

func (d *desk) save(req retake.SaveRequest) retake.SaveResult {
	d.Helper()
	req.Workspace = d.ws
	res, err := d.s.Save(d.Context(), req)
	must(d.T, err)
	return res
}

func (d *desk) latest(name string) string {
	d.Helper()
	r, _, err := d.s.Open(d.Context(), d.ws, "latest", name)
	if retake.IsKind(err, retake.NotFound) {
		return "absent"
	}
	must(d.T, err)
	defer r.Close()
	b := make([]byte, 100)
	n, _ := r.Read(b)
	return string(b[:n])
}

// A name outside of the root that stays is a way to write that nobody tells of.
func TestEditsByANameOutsideAreSaved(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("fanotify needs root")
	}
	d := newDesk(t, assemble.Options{})
	must(t, os.Link(d.at("shop/a"), d.at("outside")))
	d.write("shop/dir/b", "2")
	d.save(retake.SaveRequest{})
	for _, text := range []string{"by another name", "and again"} {
		d.write("outside", text)
		if res := d.save(retake.SaveRequest{IfChanged: true}); !res.Recorded || d.latest("a") != text {
			t.Errorf("recorded %v, a is %q", res.Recorded, d.latest("a"))
		}
	}
}

// What is left out follows the user's word, also when that changes in the middle.
func TestPolicyOfACaptureIsItsOwn(t *testing.T) {
	t.Parallel()
	d := newDesk(t, assemble.Options{})
	must(t, d.set.Set("exclude", "*.log"))
	d.write("shop/x.log", "x")
	for i := range 600 {
		d.write(filepath.Join("shop/many", uuid.NewString()), string(rune(i)))
	}
	var once sync.Once
	res := d.save(retake.SaveRequest{Progress: func(retake.Progress) { once.Do(func() { must(t, d.set.Unset("exclude")) }) }})
	if len(res.Checkpoint.Policy.Exclude) != 1 {
		t.Errorf("the card tells another policy than the capture's: %v", res.Checkpoint.Policy)
	}
	d.save(retake.SaveRequest{})
	if d.latest("x.log") != "x" {
		t.Error("what is not left out any more is missing")
	}
	must(t, d.set.Set("exclude", "*.tmp"))
	d.write("shop/y.tmp", "y")
	d.save(retake.SaveRequest{IfChanged: true}) // records nothing
	must(t, d.set.Unset("exclude"))
	d.save(retake.SaveRequest{})
	if d.latest("y.tmp") != "y" {
		t.Error("a capture that was not recorded left its policy behind")
	}
}

// A disk that refuses once does not end the work of a daemon.
func TestDiskThatRefusesOnce(t *testing.T) {
	t.Parallel()
	fs := fsxtest.NewFaultyFS(fsx.OS(), fsxtest.FaultPlan{})
	d := newDesk(t, assemble.Options{FS: fs})
	text, number := "", int64(3)
	for refused := false; !refused; {
		text = fmt.Sprint("refused ", number)
		d.write("shop/a", text)
		fs.FailNext("File.Sync")
		_, err := d.s.Save(t.Context(), retake.SaveRequest{Workspace: d.ws})
		if refused = err != nil; !refused { // the copy of metadata, made beside it, met the refusal
			number++
		}
		if number > 30 {
			t.Fatal("no save meets a refused sync")
		}
	}
	res := d.save(retake.SaveRequest{})
	if d.latest("a") != text || res.Checkpoint.Number != number {
		t.Errorf("number %d, a is %q", res.Checkpoint.Number, d.latest("a"))
	}
	rep, err := d.s.Scrub(t.Context(), retake.ScrubQuery{Share: 1})
	must(t, err)
	if len(rep.Failed) > 0 {
		t.Errorf("damaged: %v", rep.Failed)
	}
}

// Whoever catches a panic finds a service that works.
func TestPanicInASaveLeavesTheLineFree(t *testing.T) {
	t.Parallel()
	d := newDesk(t, assemble.Options{})
	breaks := retake.SaveRequest{Workspace: d.ws, Progress: func(retake.Progress) { panic("in the middle") }}
	for _, dir := range []string{"shop", "shop/many"} { // in the root, and in a part of the walk
		for i := range 600 {
			d.write(filepath.Join(dir, uuid.NewString()), string(rune(i)))
		}
		func() {
			defer func() { _ = recover() }()
			if _, err := d.s.Save(t.Context(), breaks); err == nil {
				t.Error("nothing broke")
			}
		}()
		d.write("shop/a", "after "+dir)
		if res := d.save(retake.SaveRequest{}); res.Checkpoint.Changed.Added != 600 || d.latest("a") != "after "+dir {
			t.Errorf("after a panic: %+v, a is %q", res.Checkpoint.Changed, d.latest("a"))
		}
	}
}

// Asking again is asking for the same, in every form of a save.
func TestAskingAgainInEveryForm(t *testing.T) {
	t.Parallel()
	d := newDesk(t, assemble.Options{})
	id := func() retake.CheckpointID {
		return retake.CheckpointID(retake.CheckpointPrefix + uuid.Must(uuid.NewV7()).String())
	}
	d.write("shop/a", "pinned")
	req := retake.SaveRequest{ID: id(), IfChanged: true, Pin: "keep"}
	for range 2 {
		if res := d.save(req); !res.Recorded || !res.Created || len(res.Warnings) > 0 {
			t.Errorf("with a pin: %+v", res)
		}
	}
	d.write("shop/a", "short of time")
	short := retake.SaveRequest{ID: id(), Budget: 1}
	first, again := d.save(short), d.save(short)
	if first.Partial == nil || again.Partial == nil || again.Checkpoint.ID != first.Checkpoint.ID {
		t.Errorf("with a budget: %d and %d", first.Checkpoint.Number, again.Checkpoint.Number)
	}
	if res := d.save(retake.SaveRequest{IfChanged: true, Pin: "second"}); res.Recorded || len(res.Warnings) > 0 {
		t.Errorf("a pin of what is there: %+v", res)
	}
	if _, err := d.s.Find(t.Context(), d.ws, "second"); err != nil {
		t.Error("a pin without a new checkpoint was not made")
	}
}

// Making the catalog again beside saves fails none of them.
func TestRebuildBesideSaves(t *testing.T) {
	t.Parallel()
	d := newDesk(t, assemble.Options{})
	ctx, stop := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() {
		for ctx.Err() == nil {
			if _, err := d.s.Rebuild(ctx); err != nil && ctx.Err() == nil {
				t.Errorf("rebuild: %v", err)
			}
		}
	})
	for i := range 30 {
		d.write("shop/a", string(rune('a'+i)))
		d.save(retake.SaveRequest{})
	}
	stop()
	wg.Wait()
	if tl, err := d.s.Log(t.Context(), retake.LogQuery{Workspace: d.ws}); err != nil || tl.Total != 32 {
		t.Errorf("%d checkpoints, %v", tl.Total, err)
	}
}

// Somebody may ask what changed between the checkpoint a link is written through and the
// checkpoint it is gone; the save after that still holds the change.
func TestStatusDoesNotSwallowALink(t *testing.T) {
	t.Parallel()
	for _, mode := range []retake.TrackingMode{retake.TrackingInotify, retake.TrackingFanotify} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			if mode == retake.TrackingFanotify && os.Getuid() != 0 {
				t.Skip("fanotify needs root")
			}
			d := newDesk(t, assemble.Options{Track: track.Options{Mode: mode, TrustUnreadable: true, DrainTime: time.Minute}})
			must(t, os.Link(d.at("shop/a"), d.at("shop/link")))
			d.write("shop/link", "through the link")
			_, err := d.s.Status(t.Context(), d.ws)
			must(t, err)
			must(t, os.Remove(d.at("shop/link")))
			d.save(retake.SaveRequest{})
			if got := d.latest("a"); got != "through the link" {
				t.Errorf("a is %q", got)
			}
		})
	}
}
