package restore

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/merge"
)

// settle decides what becomes of one path, three-way: what want changed of base is
// brought into what is there now.
func (p *planner) settle(ctx context.Context, path string, s sides, kin map[string]string) error {
	if len(p.Hunks) > 0 {
		return p.takeHunks(ctx, path, s)
	}
	unmoved, err := p.alike(ctx, s.now, s.base)
	if err != nil {
		return err
	}
	if unmoved && p.Steady && isFile(s.now) && isFile(s.want) && flowing(path) {
		return p.spare(ctx, path, s)
	}
	if unmoved {
		return p.step(ctx, path, s.now, timed(s), kin)
	}
	unchanged, err := p.same(ctx, s.base, s.want)
	if err != nil || unchanged {
		p.notAsked(path, s, kin)
		return err
	}
	there, err := p.same(ctx, s.now, s.want)
	switch {
	case err != nil || there:
		return err
	case s.want == nil:
		return p.unwanted(path, s)
	case s.now == nil:
		p.moved(path, s, "is gone since")
		return nil
	}
	return p.both(ctx, path, s, kin)
}

// notAsked notes a path that somebody changed and of which nothing is asked.
func (p *planner) notAsked(path string, s sides, kin map[string]string) {
	if s.now != nil {
		p.stays = append(p.stays, path)
	}
	if u := kin[path]; u != "" {
		p.movedUnits[u] = true
	}
}

func isFile(e *retake.Entry) bool { return e != nil && e.Kind == retake.KindFile }

// spare leaves a log or something built that a program wrote on. One that was deleted comes
// back, and a database goes back, like everything else.
func (p *planner) spare(ctx context.Context, path string, s sides) error {
	same, err := p.same(ctx, s.now, s.want)
	if err == nil && !same {
		p.keep(path, s, retake.KeepVolatile, alwaysMoving)
	}
	return err
}

// unwanted is something that came with the change and was changed again since.
func (p *planner) unwanted(path string, s sides) error {
	if isDir(s.now) { // it goes if nothing in it stays
		p.plan.Deletes = append(p.plan.Deletes, retake.Step{Path: path, What: retake.Deleted, Now: s.now})
		return nil
	}
	p.moved(path, s, "changed since")
	return nil
}

func (p *planner) moved(path string, s sides, detail string) {
	if p.Volatile(path) && s.now != nil {
		p.keep(path, s, retake.KeepVolatile, alwaysMoving)
		return
	}
	p.keep(path, s, retake.KeepChanged, detail)
}

const alwaysMoving = "always moving"

// both is a path that changed on both sides: attribute by attribute, then by lines.
func (p *planner) both(ctx context.Context, path string, s sides, kin map[string]string) error {
	alike, err := p.alike(ctx, s.now, s.want)
	if alike && p.Plain && extra(s.now).Group != extra(s.want).Group { // it came, but not its other names
		return p.step(ctx, path, s.now, s.want, kin)
	}
	if err != nil || alike { // both did the same; only the times differ
		return err
	}
	if p.Plain || s.base == nil || s.now.Kind != s.want.Kind || s.base.Kind != s.want.Kind {
		return p.conflict(ctx, path, s)
	}
	var same [3]bool
	for i, pair := range [3][2]*retake.Entry{{s.now, s.base}, {s.want, s.base}, {s.now, s.want}} {
		if same[i], err = p.sameBytes(ctx, pair[0], pair[1]); err != nil {
			return err
		}
	}
	ours, theirs, equal := same[0], same[1], same[2]
	then := dressed(s)
	switch {
	case ours && !theirs, equal: // the bytes are as they were: those that are wanted come
		take(&then, s.want)
	case theirs: // only somebody else changed the bytes: a database stays with its companions
		take(&then, s.now)
		if u := kin[path]; u != "" {
			p.movedUnits[u] = true
		}
	default:
		return p.byLines(ctx, path, s, then, kin)
	}
	return p.step(ctx, path, s.now, &then, kin)
}

// take gives e the bytes and the time of from.
func take(e, from *retake.Entry) {
	e.Object, e.Size, e.ModTime, e.Sum = from.Object, from.Size, from.ModTime, from.Sum
	x := extra(e)
	x.Holes, x.Group = extra(from).Holes, extra(from).Group
	e.Extra = nil
	if x.Group != "" || len(x.Holes) > 0 || len(x.Xattrs) > 0 {
		e.Extra = &x
	}
}

// dressed is what is there now, with what want changed of mode, owner and attributes.
func dressed(s sides) retake.Entry {
	then := *s.now
	if s.want.Mode != s.base.Mode {
		then.Mode = s.want.Mode
	}
	if s.want.UID != s.base.UID || s.want.GID != s.base.GID {
		then.UID, then.GID = s.want.UID, s.want.GID
	}
	if !sameXattrs(s.want, s.base) {
		x := extra(&then)
		x.Xattrs = extra(s.want).Xattrs
		then.Extra = &x
	}
	return then
}

// byLines merges a text that changed on both sides.
func (p *planner) byLines(ctx context.Context, path string, s sides, then retake.Entry, kin map[string]string) error {
	if p.Plain || s.now.Kind != retake.KindFile || kin[path] != "" {
		return p.conflict(ctx, path, s)
	}
	text, rep, ok, err := p.merged(ctx, s)
	if err != nil {
		return err
	}
	if !ok {
		return p.conflict(ctx, path, s)
	}
	if rep.Theirs == 0 { // what was asked for is in the text already
		take(&then, s.now)
		return p.step(ctx, path, s.now, &then, kin)
	}
	p.mergeStep(path, s, then, text, rep)
	return nil
}

// mergeStep writes a merged text.
func (p *planner) mergeStep(path string, s sides, then retake.Entry, text []byte, rep merge.Report) {
	sum := sha256.Sum256(text)
	then.Object, then.Size, then.ModTime = "", int64(len(text)), 0
	p.plan.Merges = append(p.plan.Merges, retake.Step{
		Path: path, What: retake.Edited, Now: s.now, Then: &then,
		Merge: &retake.Merge{
			Base: s.base.Object, Want: s.want.Object, Digest: hex.EncodeToString(sum[:]), Theirs: rep.Theirs, Yours: rep.Yours, First: rep.First, Hunks: p.Hunks,
		},
	})
	p.plan.Bytes += then.Size
}

func (p *planner) merged(ctx context.Context, s sides) ([]byte, merge.Report, bool, error) {
	var texts [3][]byte
	for i, e := range []*retake.Entry{s.base, s.now, s.want} {
		var err error
		var text bool
		if texts[i], text, err = readText(ctx, p.Trees, e); err != nil || !text {
			return nil, merge.Report{}, false, err
		}
	}
	out, rep, ok := mergeTexts(texts, p.Hunks)
	return out, rep, ok, nil
}

// maxText is the longest file that is merged by lines.
const maxText = 4 << 20

// readText answers false for what is no text.
func readText(ctx context.Context, t fileOpener, e *retake.Entry) ([]byte, bool, error) {
	if e.Size > maxText {
		return nil, false, nil
	}
	f, err := t.File(ctx, e.Object)
	if err != nil {
		return nil, false, err
	}
	defer f.Close() //nolint:errcheck // only read
	b, err := io.ReadAll(io.LimitReader(f, maxText+1))
	return b, err == nil && len(b) <= maxText && merge.Text(b), err
}

type fileOpener interface {
	File(ctx context.Context, id retake.ObjectID) (io.ReadSeekCloser, error)
}

// conflict leaves what is there, and puts the other version beside it; not in a repository,
// where a copy of a branch would be another branch.
func (p *planner) conflict(_ context.Context, path string, s sides) error {
	if p.Volatile(path) || p.Plain || s.want.Kind == retake.KindDir || InRepository(path) {
		p.moved(path, s, "changed since")
		return nil
	}
	then := *s.want
	p.plan.Keeps = append(p.plan.Keeps, retake.Keep{
		Path: path, Why: retake.KeepConflict, Detail: "changed on both sides", Side: path + p.Side, Then: &then,
	})
	return nil
}

// timed is what is wanted, but for the time of a directory that got another since:
// somebody works in it.
func timed(s sides) *retake.Entry {
	if !isDir(s.now) || !isDir(s.want) || s.now.ModTime == s.base.ModTime {
		return s.want
	}
	then := *s.want
	then.ModTime = s.now.ModTime
	return &then
}

// alike reports whether two entries are the same but for what lies in them, and for
// their times: touching a file changes nothing of it.
func (p *planner) alike(ctx context.Context, a, b *retake.Entry) (bool, error) {
	if a == nil || b == nil {
		return a == b, nil
	}
	same, err := p.sameBytes(ctx, a, b)
	if p.Plain && a.Kind == b.Kind {
		b = lenient(a, b)
	}
	return same && sameDress(a, b), err
}

// lenient is b with what a restore that was cut off may not have given a: its owner, if
// it was not root, and its other names.
func lenient(a, b *retake.Entry) *retake.Entry {
	out, x := *b, extra(b)
	out.UID, out.GID = a.UID, a.GID
	x.Group = extra(a).Group
	out.Extra = &x
	return &out
}

// same is alike, times and other names included.
func (p *planner) same(ctx context.Context, a, b *retake.Entry) (bool, error) {
	same, err := p.alike(ctx, a, b)
	return same && (a == nil || a.ModTime == b.ModTime && extra(a).Group == extra(b).Group), err
}

// step notes that a path becomes another.
func (p *planner) step(ctx context.Context, path string, now, then *retake.Entry, kin map[string]string) error {
	same, err := p.sameBytes(ctx, now, then)
	if err != nil {
		return err
	}
	what := difference(now, then, same)
	st := retake.Step{Path: path, What: what, Now: now, Then: then, Unit: kin[path]}
	switch {
	case what == "":
	case what == retake.Deleted:
		p.plan.Deletes = append(p.plan.Deletes, st)
	case what == retake.Timed && isDir(then):
		p.plan.Times = append(p.plan.Times, st)
	default:
		p.plan.Writes = append(p.plan.Writes, st)
		if then.Kind == retake.KindFile && (!same || now == nil || now.Kind != then.Kind) {
			p.plan.Bytes += then.Size
		}
	}
	return nil
}
