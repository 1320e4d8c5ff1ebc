package purge

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
	"github.com/retake-dev/retake/internal/storage/store"
)

// verifyRemoved reads everything that is kept and lists each copy that is left.
func (p *purgeRun) verifyRemoved(ctx context.Context, rep *retake.PurgeReport) error {
	rep.Left = []string{}
	if p.matcher == nil {
		return p.verifyPathsRemoved(ctx, rep)
	}
	n := 0
	err := p.store.Contents(ctx, func(b []byte) error {
		rep.Searched++
		rep.Bytes += int64(len(b))
		if p.matcher.matchesDeep(b, 0) {
			n++
		}
		return nil
	})
	if n > 0 {
		rep.Left = append(rep.Left, fmt.Sprintf("%d stored pieces of the history", n))
	}
	if err != nil {
		return err
	}
	p.matcher.checked = map[retake.ObjectID]bool{} // read everything again
	again := &purgeRun{svc: p.svc, store: p.store, req: p.req, matcher: p.matcher, family: p.family, cleanedDirs: map[retake.ObjectID]cleanedDir{}, removedFiles: map[retake.ObjectID]int64{}, removedPaths: map[string]bool{}, maskedParts: map[retake.ObjectID]retake.Entry{}}
	plan, err := again.buildPlan(ctx)
	if err != nil {
		return err
	}
	if rep.Searched += again.filesRead; plan.Checkpoints > 0 {
		rep.Left = append(rep.Left, fmt.Sprintf("%d checkpoints", plan.Checkpoints))
	}
	return p.verifyFilesRemoved(rep)
}

// verifyPathsRemoved searches for the paths in every checkpoint, and for the bytes that
// were there.
func (p *purgeRun) verifyPathsRemoved(ctx context.Context, rep *retake.PurgeReport) error {
	again := &purgeRun{svc: p.svc, store: p.store, req: p.req, family: p.family, removedFiles: map[retake.ObjectID]int64{}, removedPaths: map[string]bool{}, maskedParts: map[retake.ObjectID]retake.Entry{}}
	plan, err := again.buildPlan(ctx)
	if err != nil {
		return err
	}
	if plan.Checkpoints > 0 {
		rep.Left = append(rep.Left, fmt.Sprintf("%d checkpoints", plan.Checkpoints))
	}
	same := 0
	for id := range p.removedFiles {
		rep.Searched++
		r, err := p.store.File(ctx, id)
		if errors.Is(err, store.ErrNotFound) {
			continue
		}
		if err == nil {
			err = r.Close()
		}
		if err != nil {
			return err
		}
		same++
	}
	if same > 0 {
		rep.Left = append(rep.Left, fmt.Sprintf("the bytes of %d of the files, under other paths: to remove them too: retake purge --content", same))
	}
	return nil
}

// verifyFilesRemoved searches every file in the data directory.
func (p *purgeRun) verifyFilesRemoved(rep *retake.PurgeReport) error {
	return p.svc.eachFile(p.svc.workspaces.DataDir, func(at fsx.Dir, path string) error {
		f, err := at.OpenFile(filepath.Base(path))
		if err != nil {
			return ignoreNotExist(err)
		}
		defer f.Close() //nolint:errcheck // only read
		i, err := f.Stat()
		if err != nil {
			return err
		}
		rep.Searched, rep.Bytes = rep.Searched+1, rep.Bytes+i.Size
		found, err := p.matcher.matchesFile(io.NewSectionReader(f, 0, i.Size))
		if found {
			rep.Left = append(rep.Left, "the file "+path)
		}
		return err
	})
}

// eachFile calls f for every regular file below a directory of ours.
func (s *Purger) eachFile(dir string, f func(at fsx.Dir, path string) error) error {
	root, err := s.workspaces.FS.OpenRoot(dir)
	if err != nil {
		return ignoreNotExist(err)
	}
	defer root.Close() //nolint:errcheck // only listed
	return walkFiles(root, dir, f)
}

// walkFiles is eachFile for an open directory. Links are not followed, and files that
// vanish meanwhile are ignored.
func walkFiles(at fsx.Dir, dir string, f func(at fsx.Dir, path string) error) error {
	names, err := at.Names()
	if err != nil {
		return ignoreNotExist(err)
	}
	for _, name := range names {
		i, err := at.Lstat(name)
		switch {
		case err != nil:
			err = ignoreNotExist(err) // it was removed meanwhile
		case i.Type == fsx.Regular:
			err = f(at, filepath.Join(dir, name))
		case i.Type == fsx.Directory:
			var below fsx.Dir
			if below, err = at.OpenDir(name); err == nil {
				err = errors.Join(walkFiles(below, filepath.Join(dir, name), f), below.Close())
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// removeFile removes a file of ours if it exists.
func (s *Purger) removeFile(dir, name string) error {
	at, err := s.workspaces.FS.OpenRoot(dir)
	if err != nil {
		return ignoreNotExist(err)
	}
	return errors.Join(ignoreNotExist(at.Remove(name)), at.Close())
}

func ignoreNotExist(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
