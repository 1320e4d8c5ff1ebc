package mcp

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

// workspacePath turns a path of the agent into one below the root. Answers name paths from
// the root, so a relative one begins there, wherever the agent works.
func workspacePath(ws retake.Workspace, path string) (string, error) {
	rel := filepath.Clean(path)
	if filepath.IsAbs(path) {
		rel = relativeTo(ws.Root, rel)
	}
	if rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return "", invalidError("paths begin at the root: "+ws.Root, "%s is not in the workspace %s", path, ws.Name)
	}
	if rel == "." {
		return "", nil
	}
	return filepath.ToSlash(rel), nil
}

// relativeTo returns where full is below root, or "..". Links in its directory are
// resolved; its last element may be a link that is meant itself.
func relativeTo(root, full string) string {
	ways := []string{full}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(full)); err == nil {
		ways = append(ways, filepath.Join(dir, filepath.Base(full)))
	}
	for _, way := range ways {
		if rel, err := filepath.Rel(root, way); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return rel
		}
	}
	return ".."
}

// workspacePaths converts several paths. The root among them means everything, as does an
// empty list.
func workspacePaths(ws retake.Workspace, paths []string) ([]string, error) {
	var out []string
	for _, p := range paths {
		in, err := workspacePath(ws, p)
		if err != nil {
			return nil, err
		}
		out = append(out, in)
	}
	if slices.Contains(out, "") {
		return nil, nil
	}
	return out, nil
}

const maxSiblings = 1000

// freeSiblingDir returns the first free name beside root. If somebody takes it meanwhile,
// only the fork fails.
func freeSiblingDir(root string) (string, error) {
	first := filepath.Clean(root) + "-fork"
	dir := first
	for n := 2; n <= maxSiblings; n++ {
		if _, err := os.Lstat(dir); os.IsNotExist(err) {
			return dir, nil
		}
		dir = fmt.Sprintf("%s-%d", first, n)
	}
	return "", &retake.Error{Kind: retake.Limit, What: "there is no free name next to the workspace", Safe: nothingChanged, Hint: "name a directory: dir"}
}

// shellWord quotes a word so that a person can type it.
func shellWord(s string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789/._-+:,@%="
	if s != "" && strings.Trim(s, plain) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(termtext.Escape(s), "'", `'\''`) + "'"
}
