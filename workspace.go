package retake

import (
	"strings"
	"time"
)

// Workspace is one root directory that we protect.
type Workspace struct {
	ID      WorkspaceID `json:"id"`
	Name    string      `json:"name"`
	Root    string      `json:"root"`
	Dev     uint64      `json:"dev"` // device and inode of the root when it was last seen:
	Ino     uint64      `json:"ino"` // a copy carries the mark, but not these
	Created time.Time   `json:"created"`
	Ended   *time.Time  `json:"ended,omitempty"` // set by deinit; the history stays

	Origin      *Origin       `json:"origin,omitempty"`      // of a fork: what it grew from
	Interrupted *Interruption `json:"interrupted,omitempty"` // told by Locate and Status, and stored nowhere
	Unprotected *Unprotected  `json:"unprotected,omitempty"` // why no checkpoint could be taken now; told by Locate, Status, Workspaces and the timeline
	Stale       string        `json:"stale,omitempty"`       // why the newest checkpoints may not be listed: the catalog cannot be written; told by Locate
}

// Unprotected says why no checkpoint can be taken now: what an agent does is not kept.
type Unprotected struct {
	Why  string `json:"why"`
	Hint string `json:"hint,omitempty"` // what to do about it, a line each
}

// Origin is the checkpoint that a fork grew from.
type Origin struct {
	Workspace  WorkspaceID  `json:"workspace"`
	Checkpoint CheckpointID `json:"checkpoint"`
	Number     int64        `json:"number"`
}

// WorkspaceState is a workspace with its newest checkpoint, for lists.
type WorkspaceState struct {
	Workspace
	Latest *Checkpoint `json:"latest,omitempty"`
	Count  int64       `json:"count"`
	Gone   bool        `json:"gone"` // its directory is not there
}

// Estimate is what protecting a directory would mean.
type Estimate struct {
	Root     string   `json:"root"`
	Files    int64    `json:"files"`
	Dirs     int64    `json:"dirs"`
	Bytes    int64    `json:"bytes"`
	Free     int64    `json:"free"`   // on the disk of the store
	Floor    int64    `json:"floor"`  // what must stay free there
	Danger   []Danger `json:"danger"` // what asks for consent
	Gaps     []Gap    `json:"gaps"`
	Heaviest string   `json:"heaviest,omitempty"` // the directory below the root with most files
	Share    float64  `json:"share,omitempty"`    // its share of all files
}

// Danger is a reason to ask before a directory is protected.
type Danger struct {
	Class string `json:"class"` // the word for --accept
	Text  string `json:"text"`
}

// Classes of danger.
const (
	DangerHome   = "home"   // the home directory, or one above it
	DangerSystem = "system" // the root of the machine or a system directory
	DangerGiant  = "giant"  // more files or bytes than a project has
	DangerNested = "nested" // it is inside a protected workspace
)

// LostAt finds the workspace that was at dir or above it and whose directory was deleted or
// replaced since: the nearest one, then the one that was protected last.
func LostAt(all []WorkspaceState, dir string) (WorkspaceState, bool) {
	var found WorkspaceState
	ok := false
	for _, w := range all {
		if !w.Gone || w.Ended != nil || dir != w.Root && !strings.HasPrefix(dir, strings.TrimSuffix(w.Root, "/")+"/") {
			continue
		}
		if !ok || len(w.Root) > len(found.Root) || w.Root == found.Root && w.Created.After(found.Created) {
			found, ok = w, true
		}
	}
	return found, ok
}

// NameAmong is what to type for a workspace: its name, or its id when the name is not the
// only one of its kind or would need quotes.
func (w Workspace) NameAmong(all []WorkspaceState) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+:,@%="
	if w.Name == "" || strings.Trim(w.Name, plain) != "" || strings.HasPrefix(w.Name, "-") {
		return string(w.ID)
	}
	for _, o := range all {
		if o.Ended == nil && o.Name == w.Name && o.ID != w.ID {
			return string(w.ID)
		}
	}
	return w.Name
}
