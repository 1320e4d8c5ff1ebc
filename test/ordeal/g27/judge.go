//go:build linux

package g27

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/retake-dev/retake"
)

// trial is one call that was announced and played.
type trial struct {
	lane     *lane
	play     *play
	n        int
	had      int64 // the newest checkpoint before the hook
	row      retake.Checkpoint
	otherTip retake.Checkpoint
	answer   string // of the hook
	took     time.Duration
	out      string // of the command

	restored map[int]world // what was brought back of a rescue
	archives map[string]world
}

// rescues are what the row says of files elsewhere. A checkpoint from before the hook says nothing of
// this call.
func (t *trial) rescues() []retake.Rescue {
	if t.row.Number == t.had {
		return nil
	}
	return t.row.Rescues
}

// judge counts what became of each loss.
func (t *trial) judge(lost []loss) error {
	t.restored, t.archives = map[int]world{}, map[string]world{}
	s := t.lane.sum
	s.Tried++
	t.judgeAnswer()
	if t.play.harmless {
		t.judgeHarmless(lost)
	} else if len(lost) == 0 && !strings.Contains(t.play.String(), tmpDir) { // what is written over there is no loss
		s.Idle = append(s.Idle, t.play.class+": "+t.play.text+"  → "+strings.TrimSpace(t.out))
	}
	s.Losses += int64(len(lost))
	var silent []string
	how := map[string]int{}
	for _, x := range lost {
		word, err := t.judgeLoss(x)
		if err != nil {
			return err
		}
		how[word]++
		if word == silently {
			silent = append(silent, x.path)
		}
	}
	for word, n := range how {
		s.How[word] += int64(n)
	}
	if how[byUnknown] > 0 {
		s.Unknown[t.play.class] = append(s.Unknown[t.play.class], t.play.String())
	}
	if how[byRescue]+how[byOther]+how[byName]+how[byUnknown] > 0 {
		s.Caught++ // without what the row says of files elsewhere it would be silent
	}
	if len(silent) > 0 {
		t.fail(fmt.Sprintf("%d of %d lost in silence: %s", len(silent), len(lost), shortList(silent)))
	}
	return t.checkProgram(how[byRescue] > 0)
}

// How a loss is covered.
const (
	byTree     = "held by the checkpoint"
	byOther    = "held by the checkpoint of the other workspace"
	byOtherTip = "held by the other workspace, and the row does not say so"
	byRescue   = "saved from outside"
	byName     = "named as not saved"
	byUnknown  = "named as unknown"
	silently   = "silent"
)

// judgeLoss says how one loss is covered.
func (t *trial) judgeLoss(x loss) (string, error) {
	switch {
	case isWithin(projDir, x.path):
		held, err := t.isInCheckpoint(t.lane.proj, t.row.Number, projDir, x)
		if held || err != nil {
			return byTree, err
		}
		return silently, nil
	case isWithin(otherDir, x.path):
		if word, err := t.judgeOther(x); word != "" || err != nil {
			return word, err
		}
	default:
		if held, err := t.isRescued(x); held || err != nil {
			return byRescue, err
		}
	}
	unknown := false
	for _, r := range t.rescues() {
		if r.NotSaved != "" && covers(&r, x.path) {
			return byName, nil
		}
		unknown = unknown || r.NotSaved != "" && r.Dir == ""
	}
	if unknown {
		return byUnknown, nil
	}
	return silently, nil
}

// judgeOther looks for a loss in the checkpoints of the other workspace.
func (t *trial) judgeOther(x loss) (string, error) {
	for _, r := range t.rescues() {
		if r.Workspace != t.lane.other || r.Checkpoint == 0 {
			continue
		}
		if held, err := t.isInCheckpoint(t.lane.other, r.Checkpoint, otherDir, x); held || err != nil {
			return byOther, err
		}
	}
	held, err := t.isInCheckpoint(t.lane.other, t.otherTip.Number, otherDir, x)
	if !held || err != nil {
		return "", err
	}
	return byOtherTip, nil
}

// covers reports whether a rescue is about a path. One that lists only some of its names is about all
// of its directory. Names are as a row can have them: bytes that are no text are replaced.
func covers(r *retake.Rescue, path string) bool {
	if r.Dir == "" {
		return false
	}
	if r.Count > int64(len(r.Names)) {
		return isWithin(r.Dir, path)
	}
	path = strings.ToValidUTF8(path, "\uFFFD")
	return slices.ContainsFunc(r.Names, func(n string) bool { return isWithin(filepath.Join(r.Dir, n), path) })
}

// judgeAnswer wants the hook to be in time, and to say what is not saved.
func (t *trial) judgeAnswer() {
	s := t.lane.sum
	times := &s.Risky
	if t.play.harmless {
		times = &s.Harmless
	}
	*times = append(*times, t.took)
	if t.took > hookLimit() {
		t.fail(fmt.Sprintf("the hook takes %v", t.took))
	}
	if strings.Contains(t.answer, "could not take a checkpoint") {
		t.fail("the hook says " + t.answer)
	}
	named := slices.ContainsFunc(t.rescues(), func(r retake.Rescue) bool { return r.NotSaved != "" && r.Dir != "" })
	if said := strings.Contains(t.answer, "did not save"); named != said {
		t.fail(fmt.Sprintf("the row names what is not saved: %v, the hook says so: %v", named, said))
	}
}

// judgeHarmless wants nothing to be saved for a call that destroys nothing.
func (t *trial) judgeHarmless(lost []loss) {
	if len(lost) > 0 {
		t.fail("the corpus calls it harmless, and it is not: " + lost[0].path)
	}
	for _, r := range t.rescues() {
		if r.Dir != "" {
			t.fail("it is harmless, and " + r.Place() + " is saved or named")
			return
		}
		t.lane.sum.Noise = append(t.lane.sum.Noise, t.play.String())
	}
}
