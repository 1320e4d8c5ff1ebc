package backup

import (
	"maps"
	"slices"

	"github.com/retake-dev/retake"
)

// exclusionLog counts what is left out of the last compared checkpoint, and names the first
// files where the rules do not make it obvious.
type exclusionLog struct {
	count map[retake.LeaveReason]int64
	paths map[retake.LeaveReason]map[string]bool
}

// maxNamedPaths bounds the names of one reason.
const maxNamedPaths = 50

func newExclusionLog(left []retake.LeftOut) *exclusionLog {
	l := &exclusionLog{count: map[retake.LeaveReason]int64{}, paths: map[retake.LeaveReason]map[string]bool{}}
	for _, o := range left {
		l.count[o.Reason] = o.Count
		l.paths[o.Reason] = map[string]bool{}
		for _, p := range o.Named {
			l.paths[o.Reason][p] = true
		}
	}
	return l
}

func (l *exclusionLog) add(why retake.LeaveReason, path string) {
	l.count[why]++
	if why == retake.LeaveGit || why == retake.LeaveIgnored || why == retake.LeaveMark {
		return
	}
	if l.paths[why] == nil {
		l.paths[why] = map[string]bool{}
	}
	if len(l.paths[why]) < maxNamedPaths {
		l.paths[why][displayPath(path)] = true
	}
}

func (l *exclusionLog) remove(why retake.LeaveReason, path string) {
	l.count[why]--
	delete(l.paths[why], displayPath(path))
}

// total returns the sum of all counts.
func (l *exclusionLog) total() int64 {
	var n int64
	for _, c := range l.count {
		n += c
	}
	return n
}

// list returns the counts for people to read and for the next run to start with.
func (l *exclusionLog) list() []retake.LeftOut {
	out := []retake.LeftOut{}
	for _, why := range retake.LeaveReasons {
		if n := l.count[why]; n > 0 {
			out = append(out, retake.LeftOut{Reason: why, Count: n, Named: slices.Sorted(maps.Keys(l.paths[why]))})
		}
	}
	return out
}
