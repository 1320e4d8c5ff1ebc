package retake

// RowsQuery names a database at two checkpoints, as DiffQuery names them. Without a table the
// tables that differ are counted. With one its rows are listed too: deleted, edited, then
// added ones, each by key.
type RowsQuery struct {
	Workspace WorkspaceID
	From, To  string
	Path      string
	Table     string     // by its name in an answer without one
	What      Difference // deleted, edited or added rows only; empty: all
	Skip      int        // so many of What were seen
	Limit     int        // 0: 100; at most MostRows
}

// MostRows is what one answer lists of a table at most.
const MostRows = 1000

// RowsDiff is what differs between the rows of a database at two checkpoints.
type RowsDiff struct {
	From   *Checkpoint `json:"from,omitempty"` // nil before the first
	To     *Checkpoint `json:"to,omitempty"`   // nil is now
	Tables []TableRows `json:"tables"`         // that differ or could not be compared, by name; or the one that was asked for
	Same   int64       `json:"same"`           // tables that are equal
	Why    string      `json:"why,omitempty"`  // nothing could be compared
}

// TableRows is one table. Rows are paired by the primary key, or else by the number that
// the database gives them. The counts are of all that was compared, listed or not.
type TableRows struct {
	Name     string        `json:"name"`
	What     Difference    `json:"what,omitempty"` // the table came, went, or differs; empty: it is equal
	Columns  []TableColumn `json:"columns"`
	Unlisted int64         `json:"unlisted,omitempty"` // more columns, which are compared only
	Computed []string      `json:"computed,omitempty"` // columns that the database makes of others; not compared
	Deleted  int64         `json:"deleted"`
	Edited   int64         `json:"edited"`
	Added    int64         `json:"added"`
	Equal    int64         `json:"equal"`
	Rows     []RowChange   `json:"rows"`
	Why      string        `json:"why,omitempty"` // not all of it could be compared
}

// TableColumn is a column of one side or of both.
type TableColumn struct {
	Name string     `json:"name"`
	Key  bool       `json:"key,omitempty"`  // rows are paired by it
	What Difference `json:"what,omitempty"` // it came or went; empty: it is on both sides
}

// RowChange is one row that differs. A row is edited when a value differs in a column of
// both sides, or when a column went and took a value along; what came with a new column
// is told by the column.
type RowChange struct {
	What   Difference  `json:"what"`
	Before []CellValue `json:"before,omitempty"` // in the order of the columns
	After  []CellValue `json:"after,omitempty"`
	Cells  []int       `json:"cells,omitempty"` // of an edited row: the columns that differ
}

// CellKind is how a database keeps a value.
type CellKind string

// The kinds of values.
const (
	CellNone    CellKind = "none" // the column is not on this side
	CellNull    CellKind = "null"
	CellInteger CellKind = "integer"
	CellReal    CellKind = "real"
	CellText    CellKind = "text"
	CellBlob    CellKind = "blob" // Text says how many bytes
)

// CellValue is a value as people are shown it: short, with likely secrets masked.
type CellValue struct {
	Kind CellKind `json:"kind"`
	Text string   `json:"text"`
	More int64    `json:"more,omitempty"` // characters that were cut off
}
