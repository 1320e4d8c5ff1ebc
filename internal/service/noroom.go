package service

import (
	"errors"
	"fmt"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/fsx"
)

// tooMuch refuses a tree over the limit; what is restored from was never refused.
func (s *Service) tooMuch(bytes int64) error {
	if s.p.Checkpoint == nil || s.p.Checkpoint() <= 0 || bytes <= s.p.Checkpoint() {
		return nil
	}
	return &retake.Error{
		Kind: retake.Limit, Safe: notSaved, Hint: "remove what is not needed, or ask for a higher limit",
		What: fmt.Sprintf("not saved: the files take %d MB, and the limit is %d MB", bytes/1e6, s.p.Checkpoint()/1e6),
	}
}

func lowDisk(free, floor int64) error {
	return &retake.Error{
		Kind: retake.Limit,
		What: fmt.Sprintf("not saved: the disk is down to %d MB, and the minimum is %d MB", free/1e6, floor/1e6),
		Safe: notSaved,
		Hint: "free up space: retake space --free\nlower the minimum: retake config floor",
	}
}

// noRoom names the disk that is full, when it is another than that of the store: making
// room in the store does not help there. Other errors it gives back.
func (s *Service) noRoom(what, dir string, err error) error {
	if !errors.Is(err, fsx.ErrNoSpace) {
		return err
	}
	var dev [2]uint64
	for i, path := range []string{s.p.Data, dir} {
		d, derr := s.p.FS.OpenRoot(path)
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
	return &retake.Error{Kind: retake.Limit, What: what + ": there is no room on the disk of " + dir, Safe: unchanged, Hint: "free up some space there, and try again", Err: err}
}
