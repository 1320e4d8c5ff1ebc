package mcp

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/screen"
)

var forkTool = tool{
	name: "fork", title: "Fork a moment",
	about: "Grow a new workspace from a moment, in a directory of its own; this one stays as it is. Use it to try something, or to look at all files of a moment.",
	input: object([]string{"ref"}, fields{
		"ref": refField("the moment: a number, a time such as 10:27, latest, start, a pin"),
		"dir": str("where it goes: an absolute path that is not there yet, or empty; without it, beside the workspace", maxPath),
	}),
}

type forkIn struct {
	Ref string `json:"ref"`
	Dir string `json:"dir"`
}

type forkOut struct {
	Path      string   `json:"path"`
	Workspace string   `json:"workspace"`
	Name      string   `json:"name"`
	Number    int64    `json:"number" jsonschema:"the first moment of the fork"`
	Origin    int64    `json:"origin" jsonschema:"the moment it grew from"`
	Files     int64    `json:"files"`
	Warnings  []string `json:"warnings,omitempty"`
	aside
}

func (f *face) fork(ctx context.Context, ws retake.Workspace, in forkIn) (forkOut, error) {
	dir := in.Dir
	switch {
	case dir == "":
		var err error
		if dir, err = freeSibling(ws.Root); err != nil {
			return forkOut{}, err
		}
	case !filepath.IsAbs(dir):
		return forkOut{}, invalid("name it from the root of the machine, or leave dir out", "%s is not an absolute path", dir)
	}
	res, err := f.Fork(ctx, retake.ForkRequest{Workspace: ws.ID, Ref: in.Ref, Dir: filepath.Clean(dir)})
	if err != nil {
		return forkOut{}, err
	}
	return forkOut{
		Path: word(res.Workspace.Root, maxPath), Workspace: string(res.Workspace.ID), Name: word(res.Workspace.Name, maxTitle),
		Number: res.Checkpoint.Number, Origin: res.Origin.Number, Files: res.Checkpoint.Files, Warnings: warningsOf(res.Warnings),
	}, nil
}

func (o forkOut) text(*face) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s holds moment %d: %s files\n", quoted(o.Path), o.Origin, screen.Count(o.Files))
	writeWarnings(&b, o.Warnings)
	return b.String()
}
