package retake

// Difference is what kind of change a path saw.
type Difference string

// What can differ.
const (
	Added   Difference = "added"
	Deleted Difference = "deleted"
	Edited  Difference = "edited"  // other bytes
	Retyped Difference = "retyped" // a file became a link, a directory a file …
	Moded   Difference = "moded"   // mode, owner or extended attributes only
	Timed   Difference = "timed"   // modification time only
)

// Change is one path that differs between two trees.
type Change struct {
	Path   string     `json:"path"`
	What   Difference `json:"what"`
	Before *Entry     `json:"before,omitempty"`
	After  *Entry     `json:"after,omitempty"`
}

// IsDir reports whether it is about a directory.
func (c *Change) IsDir() bool {
	e := c.After
	if e == nil {
		e = c.Before
	}
	return e != nil && e.Kind == KindDir
}
