package backup

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/ignore"
)

// changeStream receives the difference of two checkpoints.
type changeStream interface {
	// putFile writes a file or a link.
	putFile(path string, e *retake.Entry, b []byte) error
	// dropPath removes a path and everything below it, if it exists.
	dropPath(path string) error
}

// treeSender compares two trees as they are sent. The work is proportional to the changes: an
// equal directory below equal rules is not listed.
type treeSender struct {
	src      Source
	contents *contentCache
	out      changeStream
	excluded *exclusionLog
}

// side is one of the two trees at one path. If dir is nil, there is nothing.
type side struct {
	dir   *retake.Entry
	rules ignore.Rules
	list  []retake.Entry
}

// sendTrees sends the difference; a nil from is the empty tree.
func (s *treeSender) sendTrees(ctx context.Context, from, to *retake.Entry) error {
	return s.compareDirs(ctx, "", side{dir: from, rules: ignore.EmptyRules()}, side{dir: to, rules: ignore.EmptyRules()}, false, false)
}

// compareDirs compares two directories at one path. fresh means that the rules above differ,
// so that equal directories may be sent differently; gone means that a removal of a path above
// already covers was.
func (s *treeSender) compareDirs(ctx context.Context, path string, was, is side, fresh, gone bool) error {
	if was.dir != nil && is.dir != nil && was.dir.Object == is.dir.Object && !fresh {
		return nil
	}
	old, err := s.openSide(ctx, path, &was)
	if err != nil {
		return err
	}
	now, err := s.openSide(ctx, path, &is)
	if err != nil {
		return err
	}
	fresh = fresh || old != now
	for len(was.list) > 0 || len(is.list) > 0 {
		o, n := nextPair(&was.list, &is.list)
		name := n
		if n == nil {
			name = o
		}
		at := name.Name
		if path != "" {
			at = path + "/" + name.Name
		}
		if err := s.comparePair(ctx, at, was, is, o, n, fresh, gone); err != nil {
			return err
		}
	}
	return nil
}

// openSide lists a directory and adds its ignore file to the rules. It returns the object of
// that file.
func (s *treeSender) openSide(ctx context.Context, path string, d *side) (retake.ObjectID, error) {
	if d.dir == nil {
		return "", nil
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	list, err := s.src.Dir(ctx, d.dir.Object)
	if err != nil {
		return "", fmt.Errorf("list %q: %w", path, err)
	}
	d.list = list
	i, ok := slices.BinarySearchFunc(list, ".gitignore", func(e retake.Entry, name string) int { return strings.Compare(e.Name, name) })
	if !ok || list[i].Kind != retake.KindFile {
		return "", nil
	}
	b, err := s.contents.readIgnoreFile(ctx, s.src, &list[i])
	if err != nil {
		return "", fmt.Errorf("read ignore file of %q: %w", path, err)
	}
	d.rules = d.rules.WithFile(path, b)
	return list[i].Object, nil
}

// nextPair removes the first name from the lists, from both if both have it.
func nextPair(a, b *[]retake.Entry) (x, y *retake.Entry) {
	if len(*b) == 0 || len(*a) > 0 && (*a)[0].Name <= (*b)[0].Name {
		x = &(*a)[0]
	}
	if len(*a) == 0 || len(*b) > 0 && (*b)[0].Name <= (*a)[0].Name {
		y = &(*b)[0]
	}
	if x != nil {
		*a = (*a)[1:]
	}
	if y != nil {
		*b = (*b)[1:]
	}
	return x, y
}

// comparePair compares the two versions of one name.
func (s *treeSender) comparePair(ctx context.Context, path string, was, is side, o, n *retake.Entry, fresh, gone bool) error {
	why, whyNow := was.reason(path, o), is.reason(path, n)
	entered, enters := hasOwnContents(o, why), hasOwnContents(n, whyNow)
	switch {
	case o != nil && n != nil && why == whyNow && isSentAlike(o, n) && (!fresh || !enters):
		return nil
	case entered && enters:
		return s.compareDirs(ctx, path, side{dir: o, rules: was.rules}, side{dir: n, rules: is.rules}, fresh, gone)
	}
	if o != nil {
		if err := s.removeEntry(ctx, path, was, o, why, gone); err != nil {
			return err
		}
	}
	if n == nil {
		return nil
	}
	return s.addEntry(ctx, path, is, n, whyNow)
}

// reason returns the rule that excludes an entry of this side, or "" if there is none.
func (d side) reason(path string, e *retake.Entry) retake.LeaveReason {
	if e == nil {
		return ""
	}
	return ruleReason(d.rules, path, e, !strings.Contains(path, "/"))
}

// hasOwnContents reports whether the contents of an entry are counted by themselves.
func hasOwnContents(e *retake.Entry, why retake.LeaveReason) bool {
	return e != nil && e.Kind == retake.KindDir && why == ""
}

// isSentAlike reports whether two entries are sent as the same file.
func isSentAlike(o, n *retake.Entry) bool {
	return o.Kind == n.Kind && o.Object == n.Object && o.Size == n.Size && (o.Kind != retake.KindFile || gitMode(o) == gitMode(n))
}

// removeEntry undoes what the old version of an entry was: sent, or counted as excluded.
func (s *treeSender) removeEntry(ctx context.Context, path string, was side, o *retake.Entry, why retake.LeaveReason, gone bool) error {
	if why == "" && o.Kind != retake.KindDir {
		var err error
		if why, err = s.contentReason(ctx, path, o); err != nil {
			return err
		}
	}
	if why != "" {
		s.excluded.remove(why, path)
		return nil
	}
	if !gone {
		if err := s.out.dropPath(path); err != nil {
			return err
		}
	}
	if o.Kind != retake.KindDir {
		return nil
	}
	return s.compareDirs(ctx, path, side{dir: o, rules: was.rules}, side{rules: ignore.EmptyRules()}, true, true)
}

// addEntry sends the new version of an entry, or counts it as excluded.
func (s *treeSender) addEntry(ctx context.Context, path string, is side, n *retake.Entry, why retake.LeaveReason) error {
	if why != "" {
		s.excluded.add(why, path)
		return nil
	}
	if n.Kind == retake.KindDir {
		return s.compareDirs(ctx, path, side{rules: ignore.EmptyRules()}, side{dir: n, rules: is.rules}, true, false)
	}
	b, secret, err := s.contents.readContent(ctx, s.src, n)
	if err != nil {
		return fmt.Errorf("send %q: %w", path, err)
	}
	if why := exclusionReason(path, n, b, secret); why != "" {
		s.excluded.add(why, path)
		return nil
	}
	return s.out.putFile(path, n, b)
}

// exclusionReason returns why a file or link is excluded by its content or its path.
func exclusionReason(path string, e *retake.Entry, b []byte, secret bool) retake.LeaveReason {
	switch {
	case secret, textHasSecret([]byte(path)):
		return retake.LeaveSecret
	case isModulesName(e.Name) && badModulesPattern().Match(b):
		return retake.LeaveName
	}
	return ""
}

// contentReason returns the same for an earlier version, which it reads only if the answer is
// not cached.
func (s *treeSender) contentReason(ctx context.Context, path string, e *retake.Entry) (retake.LeaveReason, error) {
	var b []byte
	is, err := s.contents.containsSecret(ctx, s.src, e)
	if err == nil && isModulesName(e.Name) {
		b, is, err = s.contents.readContent(ctx, s.src, e)
	}
	if err != nil {
		return "", fmt.Errorf("compare %q: %w", path, err)
	}
	return exclusionReason(path, e, b, is), nil
}

// Modes as git knows them.
const (
	modeFile = "100644"
	modeExec = "100755"
	modeLink = "120000"
)

func gitMode(e *retake.Entry) string {
	switch {
	case e.Kind == retake.KindSymlink:
		return modeLink
	case e.Mode&0o100 != 0:
		return modeExec
	}
	return modeFile
}
