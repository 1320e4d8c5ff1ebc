package retake

import "context"

// Teller tells what really changed, from the trees alone: never from git, and never
// from a label.
type Teller interface {
	// Story compares two checkpoints as Diff does, and says what the changes mean.
	Story(ctx context.Context, q DiffQuery) (Story, error)
	// Rows compares the rows of a database at two checkpoints. What it cannot read it says.
	Rows(ctx context.Context, q RowsQuery) (RowsDiff, error)
	// Search finds checkpoints by words: in intents, prompts, paths and facts.
	Search(ctx context.Context, q SearchQuery) ([]Hit, error)
	// Blame tells which checkpoint wrote each line of a file.
	Blame(ctx context.Context, q BlameQuery) (Blame, error)
	// Chronicle lists the checkpoints in which a fact with this name changed, newest first.
	Chronicle(ctx context.Context, q ChronicleQuery) ([]Mention, error)
}

// Theme is what a group of changes is about.
type Theme string

// The themes, in the order in which people are told. A file belongs to one of them; what
// was deleted is told first, but for the files of packages and those that always move.
const (
	ThemeDeleted  Theme = "deleted"
	ThemePackages Theme = "packages" // dependencies, and the files they brought
	ThemeSettings Theme = "settings" // .env files, configuration, units, crontabs
	ThemeDatabase Theme = "database"
	ThemeSource   Theme = "source"  // what people write: code, tests, documents
	ThemeBuild    Theme = "build"   // what programs make of it
	ThemeGit      Theme = "git"     // what git keeps for itself
	ThemeMoving   Theme = "moving"  // files that always move: logs, caches
	ThemeMachine  Theme = "machine" // outside the root: seen, never restored
)

// Themes are all of them, in order.
var Themes = []Theme{
	ThemeDeleted, ThemePackages, ThemeSettings, ThemeDatabase, ThemeSource, ThemeBuild, ThemeGit, ThemeMoving, ThemeMachine,
}

// Story is what really changed between two checkpoints.
type Story struct {
	From   *Checkpoint `json:"from,omitempty"` // nil before the first
	To     *Checkpoint `json:"to,omitempty"`   // nil is now
	Counts StoryCounts `json:"counts"`
	Groups []Group     `json:"groups"`
	Facts  []Fact      `json:"facts"`
	Unread []Unread    `json:"unread"` // what could not be read for its meaning
	Flags  []Flag      `json:"flags"`  // words and facts disagree
	Gist   Gist        `json:"gist"`

	// Elsewhere counts changes of the machine that nothing ties to the workspace. They are
	// among the facts only when they are asked for.
	Elsewhere int `json:"elsewhere,omitempty"`
}

// StoryCounts counts changed paths that are no directories. Lines are those of source
// and settings, lock files left out.
type StoryCounts struct {
	Added   int64 `json:"added"`
	Deleted int64 `json:"deleted"`
	Edited  int64 `json:"edited"`
	Renamed int64 `json:"renamed"`
	Moded   int64 `json:"moded"`   // mode, owner or extended attributes only
	Retyped int64 `json:"retyped"` // a file became a link, and the like
	Timed   int64 `json:"timed"`   // modification time only; not in Total
	Plus    int64 `json:"plus"`    // lines
	Minus   int64 `json:"minus"`
}

// Total is the number of paths that differ in more than their time. A rename is one.
func (c StoryCounts) Total() int64 {
	return c.Added + c.Deleted + c.Edited + c.Renamed + c.Moded + c.Retyped
}

// Group is what a story says of one theme. The files of the items add up to Files:
// nothing is left out.
type Group struct {
	Theme Theme  `json:"theme"`
	Files int64  `json:"files"`
	Bytes int64  `json:"bytes"` // that came, less those that went
	Plus  int64  `json:"plus"`
	Minus int64  `json:"minus"`
	Items []Item `json:"items"`
}

// Item is one path of a group, or a directory that stands for all changes below it and
// ends in "/".
type Item struct {
	Path  string     `json:"path"`
	What  Difference `json:"what"`
	From  string     `json:"from,omitempty"` // the path before, of what was renamed
	Files int64      `json:"files"`
	Bytes int64      `json:"bytes"`
	Plus  int64      `json:"plus,omitempty"`
	Minus int64      `json:"minus,omitempty"`
	Note  string     `json:"note,omitempty"` // binary, huge, torn, lock file, build output, mode 0644 to 0755
}

// Renamed is a path that went and came again elsewhere with the same bytes. Only stories
// know it: in a comparison it is a deletion and an addition.
const Renamed Difference = "renamed"

// FactKind is what a fact is about: a closed, append-only set.
type FactKind string

// The kinds of facts.
const (
	FactPackage    FactKind = "package"    // Group is npm, pypi, golang, cargo, gem, deb, apk, rpm …; values are versions
	FactEnv        FactKind = "env"        // a key of a .env file; never a value
	FactSetting    FactKind = "setting"    // a key path of a JSON, YAML or TOML file; values are short
	FactTable      FactKind = "table"      // of a database; Group is its path; values are columns
	FactRows       FactKind = "rows"       // of a table; values are counts
	FactIndex      FactKind = "index"      // an index, view or trigger of a database
	FactUnit       FactKind = "unit"       // a service, timer or socket of systemd; values are what it starts
	FactCron       FactKind = "cron"       // a line of a crontab; Name is its command, values are its times
	FactExecutable FactKind = "executable" // a program in a directory of PATH
	FactMode       FactKind = "mode"       // permissions, owner, setuid; values are octal
	FactSecret     FactKind = "secret"     // looks like one; Name is its kind, never its text
	FactPort       FactKind = "port"       // somebody listens; Name is "tcp 3000", values are the program, Direct: it belongs here
	FactProfile    FactKind = "profile"    // a shell profile of the user; Name is its path
	FactGit        FactKind = "git"        // what git did; Name is that in words, values are commits, Group is a remark, Path its .git directory
)

// Fact is one change with its meaning, and the path that shows it. A path outside the
// root begins with "/".
type Fact struct {
	Kind   FactKind   `json:"kind"`
	What   Difference `json:"what"` // added, deleted or edited
	Group  string     `json:"group,omitempty"`
	Name   string     `json:"name"`
	Before string     `json:"before,omitempty"`
	After  string     `json:"after,omitempty"`
	Path   string     `json:"path"`
	Direct bool       `json:"direct,omitempty"` // a package that somebody asked for by name; a port of a program that belongs to the workspace
}

// Trait is one thing that a reader read in one file, or a probe on the machine. Facts are
// what differs between the traits of two checkpoints.
type Trait struct {
	Kind   FactKind `json:"kind"`
	Group  string   `json:"group,omitempty"`
	Name   string   `json:"name"`
	Value  string   `json:"value,omitempty"`
	Direct bool     `json:"direct,omitempty"`
}

// Unread is a path whose meaning could not be read, and why.
type Unread struct {
	Path   string `json:"path"`
	Reader string `json:"reader"`
	Why    string `json:"why"`
}

// Flag says that words and facts disagree.
type Flag struct {
	Kind string `json:"kind"` // "mismatch"
	Why  string `json:"why"`  // "says docs, changed settings and .env −COOKIE_SECRET"
}

// Gist is a story in a few words, short enough for a row of the timeline.
type Gist struct {
	V      int         `json:"v"`    // of the rules that made it
	Lead   string      `json:"lead"` // one word or two: "auth.ts", "npm +12"
	Points []Point     `json:"points"`
	Counts StoryCounts `json:"counts"`
	Flags  []Flag      `json:"flags,omitempty"`
	Moving bool        `json:"moving,omitempty"` // only files changed that always move
	Unread int         `json:"unread,omitempty"` // how much could not be read for its meaning
	Head   string      `json:"head,omitempty"`   // the commit that was checked out
}

// Point is one fact of a gist.
type Point struct {
	Theme Theme  `json:"theme"`
	Text  string `json:"text"` // "deleted 412 in dist/", "npm +12 packages", "src/auth.ts"
	Plus  int64  `json:"plus,omitempty"`
	Minus int64  `json:"minus,omitempty"`
}

// Finding is what was found out about a checkpoint after it was sealed. It may be late,
// and it is never a reason for a checkpoint to fail.
type Finding struct {
	Gist    *Gist    `json:"gist,omitempty"`
	Answers []Answer `json:"answers,omitempty"` // by name
	Good    bool     `json:"good,omitempty"`
	Changed int64    `json:"changed,omitempty"` // files, as Checkpoint.ChangedFiles counts them
	Damaged int64    `json:"damaged,omitempty"` // paths whose stored bytes cannot be read
}

// SearchQuery asks for words; all of them must be there.
type SearchQuery struct {
	Workspace WorkspaceID
	Text      string
	Limit     int
}

// Hit is one checkpoint that holds the words, and where.
type Hit struct {
	Checkpoint Checkpoint `json:"checkpoint"`
	Finding    Finding    `json:"finding"`
	Where      string     `json:"where"` // intent, prompt, words, path, fact
	Text       string     `json:"text"`
}

// BlameQuery asks who wrote the lines of a file. An empty Ref is the newest checkpoint.
type BlameQuery struct {
	Workspace WorkspaceID
	Ref       string
	Path      string
}

// Blame is a file, line by line, with the checkpoints that wrote them.
type Blame struct {
	Checkpoint  Checkpoint   `json:"checkpoint"`
	Path        string       `json:"path"`
	Lines       []BlameLine  `json:"lines"`
	Checkpoints []Checkpoint `json:"moments"`       // that Lines name, newest first
	Why         string       `json:"why,omitempty"` // there are no lines: it is binary, or too long
}

// BlameLine is one line and the number of the checkpoint that wrote it.
type BlameLine struct {
	Number int64  `json:"number"`
	Text   string `json:"text"`
}

// ChronicleQuery names a fact. An empty Kind is any.
type ChronicleQuery struct {
	Workspace WorkspaceID
	Kind      FactKind
	Name      string
	Limit     int
}

// Mention is a checkpoint in which a fact changed.
type Mention struct {
	Checkpoint Checkpoint `json:"checkpoint"`
	Facts      []Fact     `json:"facts"`
}
