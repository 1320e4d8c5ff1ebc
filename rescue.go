package retake

import "path/filepath"

// Rescue is what a call was about to destroy outside its workspace, and what the checkpoint before
// the call has of it.
type Rescue struct {
	Dir   string   `json:"dir"`   // the directory that the names are in; absolute
	Names []string `json:"names"` // the first ones of Count
	Count int64    `json:"count"`
	Files int64    `json:"files"`
	Bytes int64    `json:"bytes"`
	Tree  ObjectID `json:"tree,omitempty"` // the directory with these names only; empty: nothing is stored here

	Workspace  WorkspaceID `json:"workspace,omitempty"`  // it is protected itself, and its checkpoint has the files
	Checkpoint int64       `json:"checkpoint,omitempty"` // the number of that one

	NotSaved string `json:"not_saved,omitempty"` // why nothing of it is saved, or not all; empty: everything is
}

// MaxRescueNames is how many names a rescue lists.
const MaxRescueNames = 20

// Place is a rescue as one path, for people: what was destroyed, or the directory it was in.
func (r *Rescue) Place() string {
	if r.Count == 1 && len(r.Names) == 1 {
		return filepath.Join(r.Dir, r.Names[0])
	}
	return r.Dir
}

// IsSaved reports whether all of it can be brought back.
func (r *Rescue) IsSaved() bool { return r.NotSaved == "" }
