package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secrets"
	"github.com/retake-dev/retake/internal/ui/term"
)

type bundleAnswer struct {
	V     int      `json:"v"`
	File  string   `json:"file"`
	Files []string `json:"files"`
}

// writeBundle writes what helps to find a fault into one archive. It holds no file of a
// workspace; likely secrets are masked, and the home directory is written as ~.
func (c *doctorCmd) writeBundle(ctx context.Context) error {
	files := c.collectReport(ctx)
	names := slices.Sorted(maps.Keys(files))
	to := c.fromWorkingDir(c.bundle)
	if err := c.writeReport(to, names, files); err != nil {
		return err
	}
	return c.printAnswer(bundleAnswer{1, to, names}, func(l term.Style) string {
		return fmt.Sprintf("%s Wrote %s.\n  Look through it before you send it. It names your directories, but has no prompts and no files. Likely secrets are masked.\n",
			l.Green(l.Glyphs.Yes), l.DisplayPath(to))
	})
}

func (c *doctorCmd) collectReport(ctx context.Context) map[string][]byte {
	files := map[string][]byte{"version.txt": []byte(c.Version + "\n")}
	if c.Report != nil {
		maps.Copy(files, c.Report(ctx))
	}
	s, err := c.openService(ctx)
	var all []retake.WorkspaceState
	if err == nil {
		all, err = s.Workspaces(ctx)
	}
	if err != nil { // the daemon may be what is broken
		files["service-error.txt"] = []byte(err.Error() + "\n")
		return files
	}
	var problems []string
	for _, w := range all {
		st, err := s.Status(ctx, w.Workspace.ID)
		if err != nil {
			problems = append(problems, fmt.Sprintf("status of %s: %v", w.Workspace.Name, err))
			continue
		}
		st.Latest, st.Good = withoutConversation(st.Latest), withoutConversation(st.Good)
		if text, err := json.MarshalIndent(st, "", "  "); err == nil {
			files["status/"+string(w.Workspace.ID)+".json"] = text
		}
	}
	if len(problems) > 0 {
		files["problems.txt"] = []byte(strings.Join(problems, "\n") + "\n")
	}
	return files
}

// withoutConversation is a checkpoint without what people and agents said.
func withoutConversation(cp *retake.Checkpoint) *retake.Checkpoint {
	if cp == nil {
		return nil
	}
	out := *cp
	out.Intent, out.Turn, out.Effects = "", nil, nil
	return &out
}

func (c *doctorCmd) writeReport(to string, names []string, files map[string][]byte) error {
	f, err := c.Archives.Create(to, false)
	if err != nil {
		return err
	}
	zip := gzip.NewWriter(f)
	out := tar.NewWriter(zip)
	for _, name := range names {
		text := c.maskSecrets(files[name])
		err = errors.Join(err, out.WriteHeader(&tar.Header{Name: path.Join("retake-report", name), Mode: 0o600, Size: int64(len(text)), ModTime: c.Clock.Now()}))
		if err == nil {
			_, err = out.Write(text)
		}
	}
	if err := errors.Join(err, out.Close(), zip.Close()); err != nil {
		f.Drop()
		return fmt.Errorf("write report: %w", err)
	}
	return f.Keep()
}

// maskSecrets hides likely secrets and the user's home directory.
func (c *doctorCmd) maskSecrets(text []byte) []byte {
	out, _ := secrets.Mask(string(text))
	if c.Home != "" && c.Home != "/" {
		out = strings.ReplaceAll(out, c.Home, "~")
	}
	return bytes.ToValidUTF8([]byte(out), []byte("?"))
}
