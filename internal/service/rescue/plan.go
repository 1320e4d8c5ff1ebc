package rescue

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/engine/capture"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/storage/store"
)

// StateDir is the directory beside the files of a checkpoint that has what was rescued.
const StateDir = "rescue"

// Plan is what will be stored with a checkpoint.
type Plan struct {
	svc      *Rescuer
	limit    retake.RescueLimit
	deadline time.Time
	groups   []*group
	skip     []string // directories that are not read: workspaces
	rescues  []retake.Rescue
}

func (p *Plan) timeLeft() time.Duration { return p.deadline.Sub(p.svc.workspaces.Clock.Now()) }

// dropNested drops what lies in a directory that is stored whole.
func (p *Plan) dropNested() {
	whole := map[string]bool{}
	for _, g := range p.groups {
		for _, n := range g.names {
			whole[filepath.Join(g.dir, n)] = true
		}
	}
	for _, g := range p.groups {
		inside := false
		for dir, up := g.dir, ""; dir != up && !inside; dir, up = filepath.Dir(dir), dir {
			inside = whole[dir]
		}
		if inside {
			g.names = nil
		}
	}
	p.groups = slices.DeleteFunc(p.groups, func(g *group) bool { return len(g.names) == 0 })
}

// addNotSaved adds a path that cannot be saved.
func (p *Plan) addNotSaved(at, why string) {
	if len(p.rescues) < maxRescues {
		p.rescues = append(p.rescues, retake.Rescue{Dir: filepath.Dir(at), Names: []string{filepath.Base(at)}, Count: 1, NotSaved: why})
	}
}

// addUnknown adds that the call may destroy files that nobody can name before it runs.
func (p *Plan) addUnknown(names []string) {
	r := retake.Rescue{Names: []string{}, NotSaved: "files outside this project, if it deletes any: they are known only when it runs"}
	for _, n := range names[:min(len(names), retake.MaxRescueNames)] {
		if n != "" && !slices.Contains(r.Names, n) {
			r.Names = append(r.Names, n)
		}
	}
	r.Count = int64(len(r.Names))
	p.rescues = append(p.rescues, r)
}

// Store stores what the call may destroy, and returns the entry for the checkpoint's state; nil if
// nothing was stored. What could not be stored is named in the rescues.
func (p *Plan) Store(ctx context.Context, w store.Writer) (*retake.Entry, []retake.Rescue) {
	var dirs []retake.Entry
	left := p.limit.Bytes
	for _, g := range p.groups {
		r := retake.Rescue{Dir: g.dir, Count: int64(len(g.names))}
		for _, n := range g.names[:min(len(g.names), retake.MaxRescueNames)] {
			r.Names = append(r.Names, strings.ToValidUTF8(n, "\uFFFD"))
		}
		e, err := p.storeGroup(ctx, w, g, &r, left)
		if err != nil {
			r.NotSaved = err.Error()
		} else {
			e.Name = strconv.Itoa(len(dirs) + 1)
			dirs, left = append(dirs, e), left-r.Bytes
		}
		p.rescues = append(p.rescues, r)
	}
	if len(dirs) == 0 {
		return nil, p.rescues
	}
	id, sum, err := w.WriteDir(ctx, dirs, 0)
	if err != nil {
		for i := range p.rescues {
			if p.rescues[i].Tree != "" {
				p.rescues[i].Tree, p.rescues[i].NotSaved = "", "it could not be stored: "+fsx.CauseText(err)
			}
		}
		return nil, p.rescues
	}
	return &retake.Entry{Name: StateDir, Kind: retake.KindDir, Mode: 0o700, Object: id, Sum: sum}, p.rescues
}

// storeGroup stores what is destroyed in one directory. A panic is an error of this group.
func (p *Plan) storeGroup(ctx context.Context, w store.Writer, g *group, r *retake.Rescue, limit int64) (e retake.Entry, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("reading it broke off: %v", v)
		}
	}()
	if limit <= 0 {
		return e, errors.New("the setting rescue-max leaves no room for it")
	}
	dir, err := p.svc.workspaces.FS.OpenRoot(g.dir)
	if err != nil {
		return e, errors.New("it cannot be read: " + fsx.CauseText(err))
	}
	defer dir.Close() //nolint:errcheck // only read
	names := g.names
	if g.dir == "/" && slices.Contains(names, "/") {
		if names, err = dir.Names(); err != nil {
			return e, errors.New("it cannot be read: " + fsx.CauseText(err))
		}
	}
	skip, err := p.skippedDirs()
	if err != nil {
		return e, err
	}
	if err := p.measure(ctx, dir, names, skip, limit); err != nil {
		return e, err
	}
	left := p.timeLeft()
	if left <= 0 {
		return e, errors.New("there was no time left")
	}
	res, err := capture.Read(ctx, dir, capture.NewIndex(), w, capture.Options{Clock: p.svc.workspaces.Clock, Budget: left, Skip: skip, Names: names})
	if err != nil {
		return e, errors.New("it cannot be read: " + fsx.CauseText(err))
	}
	r.Tree, r.Files, r.Bytes = res.Files.Object, res.Files.Sum.Files+res.Files.Sum.Symlinks, res.Files.Sum.Bytes
	r.NotSaved = gapText(res.Coverage.Gaps)
	return res.Files, nil
}

// skippedDirs identifies the directories that are not read: the store and the workspaces.
func (p *Plan) skippedDirs() ([]capture.DirID, error) {
	skip, err := p.svc.workspaces.StoreDirIDs()
	if err != nil {
		return nil, err
	}
	for _, root := range p.skip {
		d, err := p.svc.workspaces.FS.OpenRoot(root)
		if err != nil {
			continue // it is gone
		}
		if i, err := d.Stat(); err == nil {
			skip = append(skip, capture.DirID{Dev: i.Dev, Ino: i.Ino})
		}
		_ = d.Close() // only looked
	}
	return skip, nil
}

// measure returns an error if there is more than fits the limit.
func (p *Plan) measure(ctx context.Context, dir fsx.Dir, names []string, skip []capture.DirID, limit int64) error {
	total, late := int64(0), false
	tooMuch := fmt.Errorf("it has more than %s", termtext.Bytes(limit))
	for _, name := range names {
		i, err := dir.Lstat(name)
		switch {
		case err != nil:
			continue // the capture names it
		case i.Type == fsx.Regular:
			total += i.Size
		case i.Type == fsx.Directory && !slices.Contains(skip, capture.DirID{Dev: i.Dev, Ino: i.Ino}):
			sub, err := dir.OpenDir(name)
			if err != nil {
				continue
			}
			m, err := capture.MeasureTree(ctx, sub, skip, func(m capture.Measurement) bool {
				late = m.Files%256 == 0 && p.timeLeft() <= 0
				return late || total+m.Bytes > limit
			})
			_ = sub.Close() // only read
			if err != nil {
				return errors.New("it cannot be read: " + fsx.CauseText(err))
			}
			total += m.Bytes
		}
		if late {
			return errors.New("it has more files than can be counted in time")
		}
		if total > limit {
			return tooMuch
		}
	}
	return nil
}

// gapText says what of a group is not stored, or "".
func gapText(gaps []retake.Gap) string {
	var missing []retake.Gap
	for _, g := range gaps {
		if g.Reason != retake.ReasonStore {
			missing = append(missing, g)
		}
	}
	if len(missing) == 0 {
		return ""
	}
	why := map[retake.Reason]string{
		retake.ReasonBudget: "there was no time left", retake.ReasonUnreadable: "it cannot be read", retake.ReasonMount: "it is another file system",
		retake.ReasonDevice: "it is a device", retake.ReasonTorn: "it changed while it was read", retake.ReasonMoving: "it changed while it was read",
	}
	first := missing[0]
	text := fmt.Sprintf("%s: %s", termtext.Escape(first.Path), why[first.Reason])
	if why[first.Reason] == "" {
		text = fmt.Sprintf("%s: %s", termtext.Escape(first.Path), first.Reason)
	}
	if n := len(missing) - 1; n > 0 {
		text += fmt.Sprintf(", and %d more", n)
	}
	return text
}
