package retake

import (
	"context"
	"encoding/json"
)

// PlanViewer says plans in words.
type PlanViewer interface {
	// ViewPlan makes the plan that PlanRestore makes, and says it in words.
	ViewPlan(ctx context.Context, req PlanRequest) (ViewedPlan, error)
}

// ViewedPlan is a plan and what is shown of it.
type ViewedPlan struct {
	Plan Plan     `json:"plan"`
	View PlanView `json:"view"`
}

// PlanView is a plan in the words, counts and sections that every face shows. Texts are raw:
// who draws them escapes them.
type PlanView struct {
	Goal      string        `json:"goal"`             // where it leads: "14", or the name of a fork
	Action    string        `json:"action"`           // "Restore 14"
	Doing     string        `json:"doing"`            // "Restoring 14"
	Done      string        `json:"done"`             // "Restored 14"
	Idle      bool          `json:"idle"`             // there is nothing to do
	Headline  string        `json:"headline"`         // how much would change, or why nothing would
	Untouched string        `json:"untouched"`        // that nothing has been changed yet; empty when there is nothing to do
	Edits     string        `json:"edits,omitempty"`  // the edits that an undo leaves in place
	Beside    string        `json:"beside,omitempty"` // why it changes no file that is there, and what it writes instead
	Numbers   []string      `json:"numbers"`          // "delete 1,132", "bring back 30"
	Question  string        `json:"question"`
	Apply     string        `json:"apply"` // what a yes does: "Restore 14 and delete 1,132 files"
	Counts    PlanCounts    `json:"counts"`
	Sections  []PlanSection `json:"sections"`
	Asks      []PlanAsk     `json:"asks"`
	Safety    PlanSafety    `json:"safety"`
	Compare   *PlanCompare  `json:"compare,omitempty"` // where its changes can be read line by line
}

// PlanCounts counts the paths of a plan as people read them: directories count only where
// there is nothing else.
type PlanCounts struct {
	Deleted      int64 `json:"deleted"`
	Brought      int64 `json:"brought"`
	Changed      int64 `json:"changed"`
	Merged       int64 `json:"merged"`
	Beside       int64 `json:"beside"` // other versions that are put beside what stays
	Kept         int64 `json:"kept"`
	DeletedBytes int64 `json:"deleted_bytes"`
	BroughtBytes int64 `json:"brought_bytes"`
}

// PlanSectionKind is what happens to the paths of a section.
type PlanSectionKind string

// The sections, in their order.
const (
	PlanDelete   PlanSectionKind = "delete"
	PlanBring    PlanSectionKind = "bring"
	PlanChange   PlanSectionKind = "change"
	PlanMerge    PlanSectionKind = "merge"
	PlanConflict PlanSectionKind = "conflict"
	PlanKeep     PlanSectionKind = "keep"
)

// PlanSection is all paths to which the same happens.
type PlanSection struct {
	Kind  PlanSectionKind `json:"kind"`
	Title string          `json:"title"` // "Bring back"
	Done  string          `json:"done"`  // "brought back"
	About string          `json:"about"` // the count in words: "25 files, not there at 14"
	Count int64           `json:"count"`
	Paths int64           `json:"paths"` // that the rows stand for, directories too
	Rows  []PlanRow       `json:"rows"`
}

// PlanRow is a path of a section, or a directory: the rows in it follow. The fullest directory
// comes first.
type PlanRow struct {
	Path   string     `json:"path"` // a directory ends in "/"
	What   Difference `json:"what,omitempty"`
	Why    KeepReason `json:"why,omitempty"`
	Count  int64      `json:"count"` // of paths, as its section counts them
	Bytes  int64      `json:"bytes"`
	Note   string     `json:"note,omitempty"`   // what is known of it
	Detail string     `json:"detail,omitempty"` // more about why it is left as it is
	Whole  bool       `json:"whole,omitempty"`  // the directory itself comes or goes
	Depth  int        `json:"depth"`            // how many directories it is in
	Below  int        `json:"below"`            // how many of the next rows are in the directory; 0: it is a path
}

// PlanAsk is what one class of warnings asks, once for all its paths.
type PlanAsk struct {
	Class string `json:"class"`
	Deed  string `json:"deed"` // what a yes means: "delete 1,132 files"
	Text  string `json:"text"` // the warnings as a sentence, and that nothing is lost where that is so
}

// PlanSafety says what keeps all there is now, and what takes the plan back.
type PlanSafety struct {
	Text   string `json:"text"`             // "First your files are saved as checkpoint 18"
	Course Course `json:"course,omitempty"` // that takes the plan back; empty: none does
	Brings string `json:"brings,omitempty"` // what it does: "brings them back"
}

// PlanCompare is where the changes of a plan can be compared. The plan leads from the later
// state to the earlier one when Back is set.
type PlanCompare struct {
	Workspace WorkspaceID `json:"workspace"`
	From      string      `json:"from"`
	To        string      `json:"to,omitempty"` // empty: now
	Back      bool        `json:"back"`
}

// MarshalJSON keeps a path that is not UTF-8.
func (r PlanRow) MarshalJSON() ([]byte, error) {
	type plain PlanRow
	return json.Marshal(struct {
		plain
		Raw []byte `json:"path_raw,omitempty"`
	}{plain(r), rawOf(r.Path)})
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *PlanRow) UnmarshalJSON(b []byte) error {
	type plain PlanRow
	v := struct {
		*plain
		Raw []byte `json:"path_raw"`
	}{plain: (*plain)(r)}
	err := json.Unmarshal(b, &v)
	restore(&r.Path, v.Raw)
	return err
}
