//go:build linux

package g7

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/test/ordeal/crashbed"
)

// naive cleans what the first checkpoint does not have and writes what it has, by path; it
// answers by the canaries that it destroys.
func (s *snare) naive() error {
	ctx := context.Background()
	svc, err := shopAt(ctx, s.data)
	if err != nil {
		return err
	}
	ws, err := svc.Locate(ctx, s.trap.root)
	if err == nil {
		err = cleanAndWrite(ctx, svc, ws)
	}
	if err = errors.Join(err, svc.Close()); err != nil {
		return err
	}
	after, err := s.look()
	for p := range s.trap.canaries {
		if is, ok := after[p]; !ok || is.sum != s.before[p].sum {
			s.v.Caught++
		}
	}
	return err
}

func cleanAndWrite(ctx context.Context, svc retake.Service, ws retake.Workspace) error {
	want, err := crashbed.StoredTree(ctx, svc, ws.ID, "1")
	if err != nil {
		return err
	}
	all, err := survey([]string{ws.Root})
	if err != nil {
		return err
	}
	for p := range all {
		rel := strings.TrimPrefix(p, ws.Root+"/")
		if _, ok := want[rel]; !ok && p != ws.Root && !strings.HasPrefix(rel, "our store") {
			_ = os.RemoveAll(p) // what cannot be removed stays
		}
	}
	for rel, e := range want {
		if e.Kind != retake.KindFile {
			continue
		}
		f, _, err := svc.Open(ctx, ws.ID, "1", rel)
		if err != nil {
			return err
		}
		b, err := io.ReadAll(f)
		if err != nil {
			return err
		}
		_ = os.MkdirAll(filepath.Join(ws.Root, filepath.Dir(rel)), 0o755) // the write tells
		if f, err := os.OpenFile(filepath.Join(ws.Root, rel), os.O_WRONLY|os.O_CREATE|os.O_TRUNC|syscall.O_NONBLOCK, 0o644); err == nil {
			_, _ = f.Write(b) // what cannot be written stays
			_ = f.Close()
		}
	}
	return nil
}
