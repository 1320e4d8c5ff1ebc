//go:build linux

package g27

import (
	"archive/tar"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/retake-dev/retake"
)

// isInCheckpoint compares a loss with the bytes in a checkpoint of a workspace.
func (t *trial) isInCheckpoint(ws retake.WorkspaceID, number int64, root string, x loss) (bool, error) {
	key := fmt.Sprint(ws, number)
	if t.archives[key] == nil {
		var err error
		if t.archives[key], err = t.readArchive(ws, number, root); err != nil {
			return false, err
		}
	}
	got, ok := t.archives[key][x.path]
	return ok && got.equals(x.was), nil
}

// readArchive reads all files of a checkpoint.
func (t *trial) readArchive(ws retake.WorkspaceID, number int64, root string) (w world, err error) {
	src, err := t.lane.client.Archive(context.Background(), ws, strconv.FormatInt(number, 10))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	w = world{}
	for r := tar.NewReader(src); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			_, err = io.Copy(io.Discard, src)
			return w, err
		}
		if err != nil {
			return nil, err
		}
		path := filepath.Join(root, h.Name)
		switch h.Typeflag {
		case tar.TypeReg:
			b, err := io.ReadAll(r)
			if err != nil {
				return nil, err
			}
			w[path] = node{text: string(b)}
		case tar.TypeLink:
			w[path] = w[filepath.Join(root, h.Linkname)]
		case tar.TypeSymlink:
			w[path] = node{mode: fs.ModeSymlink, text: h.Linkname}
		}
	}
}

// isRescued brings back what the row has of a path, to an empty place, and compares the bytes.
func (t *trial) isRescued(x loss) (bool, error) {
	for i, r := range t.rescues() {
		if r.Tree == "" || !covers(&r, x.path) {
			continue
		}
		if t.restored[i] == nil {
			if err := t.bringBack(i, &r); err != nil {
				t.fail(fmt.Sprintf("the row has %s, and it does not come back: %v", r.Place(), err))
				t.restored[i] = world{}
			}
		}
		if got, ok := t.restored[i][x.path]; ok && got.equals(x.was) {
			return true, nil
		}
	}
	return false, nil
}

// bringBack restores one rescue to an empty directory, as retake restore --to does, and reads it.
func (t *trial) bringBack(i int, r *retake.Rescue) error {
	t.lane.looks++
	to := filepath.Join(ownDir, "look", strconv.Itoa(t.lane.looks))
	req := retake.PlanRequest{Workspace: t.lane.proj, Course: retake.CourseRestore, Ref: strconv.FormatInt(t.row.Number, 10), To: to}
	for _, name := range r.Names {
		req.Paths = append(req.Paths, filepath.Join(r.Dir, name))
	}
	if r.Count > int64(len(r.Names)) || strings.Contains(strings.Join(r.Names, ""), "\uFFFD") {
		req.Paths = []string{r.Dir}
	}
	p, err := t.lane.client.PlanRestore(context.Background(), req)
	if err != nil {
		return err
	}
	res, err := t.lane.client.ApplyRestore(context.Background(), retake.ApplyRequest{PlanRequest: req, Digest: p.Digest})
	if err == nil && len(res.Failed) > 0 {
		err = fmt.Errorf("failed: %+v", res.Failed)
	}
	if err != nil {
		return err
	}
	t.restored[i], err = readMoved(to, r.Dir)
	return err
}

// readMoved reads a directory as if it were at another place.
func readMoved(from, to string) (world, error) {
	w, err := readWorld(from)
	out := world{}
	for path, n := range w {
		out[filepath.Join(to, strings.TrimPrefix(path, from))] = n
	}
	return out, err
}

// checkProgram asks the command line for the same now and then: what it prints is what people see.
func (t *trial) checkProgram(rescued bool) error {
	if t.n%programEvery > 0 {
		return nil
	}
	out, err := t.lane.retake(ownDir, nil, "show", strconv.FormatInt(t.row.Number, 10), "--json", "--workspace", string(t.lane.proj))
	if err != nil {
		return fmt.Errorf("show: %w: %s", err, out)
	}
	t.lane.sum.Programs++
	var shown struct{ Checkpoint retake.Checkpoint }
	if err := json.Unmarshal(out, &shown); err != nil {
		return fmt.Errorf("show: %w: %s", err, out)
	}
	if !reflect.DeepEqual(shown.Checkpoint.Rescues, t.row.Rescues) {
		t.fail(fmt.Sprintf("retake show says %+v, the timeline %+v", shown.Checkpoint.Rescues, t.row.Rescues))
	}
	if rescued {
		return t.restoreByProgram()
	}
	return nil
}

// programEvery is how often the command line is asked.
const programEvery = 10

// restoreByProgram brings the first thing back that was saved, as the page about risky commands says.
func (t *trial) restoreByProgram() error {
	for i, r := range t.rescues() {
		w := t.restored[i]
		if r.Tree == "" || len(r.Names) == 0 || w == nil {
			continue
		}
		t.lane.looks++
		to, path := filepath.Join(ownDir, "look", strconv.Itoa(t.lane.looks)), filepath.Join(r.Dir, r.Names[0])
		out, err := t.lane.retake(ownDir, nil, "restore", strconv.FormatInt(t.row.Number, 10), "--yes", "--workspace", string(t.lane.proj), "--to", to, "--", path)
		if err != nil {
			t.fail(fmt.Sprintf("retake restore --to of %s: %v: %s", path, err, out))
			return nil
		}
		t.lane.sum.Programs++
		got, err := readMoved(to, r.Dir)
		if err != nil {
			return err
		}
		for p, n := range w {
			if isWithin(path, p) && !got[p].equals(n) {
				t.fail(fmt.Sprintf("retake restore --to brings %s back with other bytes", p))
			}
		}
		return nil
	}
	return nil
}
