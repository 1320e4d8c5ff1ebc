package workspace

import (
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"

	"github.com/retake-dev/retake/internal/pure/termtext"
)

// CheckTreeSize refuses to save a tree over the limit.
func (s *Registry) CheckTreeSize(bytes int64) error {
	if s.MaxCheckpointBytes == nil || s.MaxCheckpointBytes() <= 0 || bytes <= s.MaxCheckpointBytes() {
		return nil
	}
	return &retake.Error{
		Kind: retake.Limit, Safe: NotSaved, Hint: "remove what is not needed, or ask for a higher limit",
		What: fmt.Sprintf("can't save: the files take %s, and the limit is %s", termtext.Bytes(bytes), termtext.Bytes(s.MaxCheckpointBytes())),
	}
}

// ErrOverLimit is the cause of errors about a limit that nothing waits for: a later try fails, too.
var ErrOverLimit = errors.New("over a limit of the namespace")

// LowDiskError says that the disk is below its minimum, and suggests a lower one.
func LowDiskError(free, floor int64) error {
	lower := fmt.Sprintf("%dMB", max(free/2/1e6, 1))
	if free/2 >= 2e9 {
		lower = fmt.Sprintf("%dGB", free/2/1e9)
	}
	return &retake.Error{
		Kind: retake.Limit,
		What: fmt.Sprintf("can't save: the disk has %s free, and the minimum is %s", termtext.Bytes(free), termtext.Bytes(floor)),
		Safe: NotSaved,
		Hint: fmt.Sprintf("see what can be freed: retake space --plan\nlower the minimum: retake config floor %s", lower),
	}
}

// ExplainNoSpace names the full disk if it is not that of the store, where freeing space
// would not help. Other errors are returned unchanged.
func (s *Registry) ExplainNoSpace(what, dir string, err error) error {
	if !errors.Is(err, fsx.ErrNoSpace) {
		return err
	}
	var dev [2]uint64
	for i, path := range []string{s.DataDir, dir} {
		d, derr := s.FS.OpenRoot(path)
		if derr != nil {
			return err
		}
		at, derr := d.Stat()
		if derr = errors.Join(derr, d.Close()); derr != nil {
			return err
		}
		dev[i] = at.Dev
	}
	if dev[0] == dev[1] {
		return err
	}
	return &retake.Error{Kind: retake.Limit, What: what + ": there is no room on the disk of " + dir, Safe: Unchanged, Hint: "free up some space there, and try again", Err: err}
}

// DiskSpace returns the free bytes on the store's disk and the minimum that must stay free.
func (s *Registry) DiskSpace() (free, floor int64, err error) {
	free, total, err := s.FS.FreeSpace(s.DataDir)
	if err != nil {
		return 0, 0, fmt.Errorf("ask for room: %w", err)
	}
	return free, s.MinFree(total), nil
}
