package mcp

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

var forkTool = toolSpec{
	name:        "fork",
	description: "Make a new workspace from a checkpoint in a directory of its own; this one stays as it is.",
	input: objectSchema([]string{"ref"}, schemaFields{
		"ref": refField(refDescription),
		"dir": stringSchema("absolute, new or empty; default: beside the workspace. On a server: its name", maxPath),
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
	Number    int64    `json:"number" jsonschema:"the first checkpoint of the fork"`
	Origin    int64    `json:"origin" jsonschema:"the checkpoint it was forked from"`
	Files     int64    `json:"files"`
	Warnings  []string `json:"warnings,omitempty"`
	answerNote
}

// handleFork forks a checkpoint into a new directory, by default beside the workspace.
func (f *toolServer) handleFork(ctx context.Context, ws retake.Workspace, in forkIn) (forkOut, error) {
	dir := in.Dir
	switch {
	case f.opts.isRemote():
		return f.forkRemote(ctx, ws, in)
	case dir == "":
		var err error
		if dir, err = freeSiblingDir(ws.Root); err != nil {
			return forkOut{}, err
		}
	case !filepath.IsAbs(dir):
		return forkOut{}, invalidError("name it from the root of the machine, or leave dir out", "%s is not an absolute path", dir)
	default:
		dir = filepath.Clean(dir)
	}
	return f.runFork(ctx, retake.ForkRequest{Workspace: ws.ID, Ref: in.Ref, Dir: dir})
}

// forkRemote lets a server choose the directory; the request names the fork.
func (f *toolServer) forkRemote(ctx context.Context, ws retake.Workspace, in forkIn) (forkOut, error) {
	req := retake.ForkRequest{Workspace: ws.ID, Ref: in.Ref, Name: in.Dir}
	if in.Dir != "" {
		return f.runFork(ctx, req)
	}
	req.Name = ws.Name + "-fork"
	for n := 2; ; n++ {
		out, err := f.runFork(ctx, req)
		if !retake.IsKind(err, retake.Exists) || n > maxRemoteNames {
			return out, err
		}
		req.Name = fmt.Sprintf("%s-fork-%d", ws.Name, n)
	}
}

const maxRemoteNames = 20

func (f *toolServer) runFork(ctx context.Context, req retake.ForkRequest) (forkOut, error) {
	res, err := f.Fork(ctx, req)
	if err != nil {
		return forkOut{}, err
	}
	return forkOut{
		Path: safeWord(res.Workspace.Root, maxPath), Workspace: string(res.Workspace.ID), Name: safeWord(res.Workspace.Name, maxTitle),
		Number: res.Checkpoint.Number, Origin: res.Origin.Number, Files: res.Checkpoint.Files, Warnings: warningTexts(res.Warnings),
	}, nil
}

func (o forkOut) text(*toolServer) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s holds checkpoint %d: %s files\n", quoteWord(o.Path), o.Origin, termtext.Count(o.Files))
	fmt.Fprintf(&b, "its workspace is %s, id %s\n", quoteWord(o.Name), o.Workspace)
	writeWarnings(&b, o.Warnings)
	return b.String()
}
