//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// sums are the figures of several cases, before or after the repair.
type sums struct {
	Snapshots     int `json:"snapshots_exact"`
	Files         int `json:"files_exact"`
	AllExact      int `json:"cases_with_all_exact"`
	Newest        int `json:"cases_with_newest_exact"`
	New           int `json:"cases_with_new_backup_exact"`
	Nothing       int `json:"cases_in_which_nothing_opened"`
	SilentWrong   int `json:"cases_with_wrong_bytes_and_exit_0"`
	SilentMissing int `json:"cases_with_missing_files_and_exit_0"`
	Unnamed       int `json:"of_these_cases_with_files_that_the_repair_did_not_name"`
	TimedOut      int `json:"commands_over_the_time_limit"`
}

func (s *sums) add(t tally) {
	s.Snapshots += t.Snapshots
	s.Files += t.Files
	s.TimedOut += t.TimedOut
	for _, c := range []struct {
		count *int
		is    bool
	}{
		{&s.AllExact, t.Snapshots == states}, {&s.Newest, t.Newest}, {&s.New, t.New}, {&s.Nothing, t.Nothing},
		{&s.SilentWrong, t.Wrong > 0}, {&s.SilentMissing, t.Missing > 0}, {&s.Unnamed, t.Unnamed > 0},
	} {
		if c.is {
			*c.count++
		}
	}
}

// row is one tool and one kind of damage, for all kinds of files or for one.
type row struct {
	Tool   string `json:"tool"`
	Damage string `json:"damage"`
	Kind   string `json:"kind,omitempty"`
	Cases  int    `json:"cases"`
	Before sums   `json:"before_repair"`
	After  sums   `json:"after_repair"`
}

type toolInfo struct {
	Name    string         `json:"name"`
	Version string         `json:"version"`
	Files   map[string]int `json:"files_in_repository"`
	notes
}

type results struct {
	Seed      int64      `json:"seed"`
	Snapshots int        `json:"snapshots"`
	Workspace string     `json:"workspace"`
	Files     int        `json:"files_in_all_snapshots"`
	Method    []string   `json:"method"`
	Minutes   int        `json:"minutes"`
	Tools     []toolInfo `json:"tools"`
	Rows      []row      `json:"by_damage"`
	Kinds     []row      `json:"by_kind"`
	cases     []outcome
}

var method = []string{
	"Each case starts with a fresh copy of an undamaged repository, without local caches. One file of it gets one bit flipped or is removed.",
	"Files are chosen evenly over the kinds of files of each repository. A file is removed at most once, so a repository with few files has more flips.",
	"Before repair: all snapshots are restored into empty directories. After repair: on a second copy with the same damage, the tool's own repair and one new backup of the live workspace, which still has the newest state, then the same restores.",
	"A file is exact if its SHA-256 is the one of the file that was saved. A snapshot is exact if all its files are exact and none is added.",
	"Exit 0: the restore command of that snapshot exited with 0. The repair named a file if its output contains the path or its directory.",
	"Controls, for each tool: an undamaged copy gives all snapshots before and after the repair, and the comparison notices one changed bit in a restored file.",
	"Each command may take 60 s.",
	"After -more, cases are from several repositories that were made with the same seed; their keys, and so their file names, differ.",
}

// collect adds the cases up.
func collect(f flags, h *history, lanes []*lane, took time.Duration) *results {
	r := &results{
		Seed: f.seed, Snapshots: states, Files: h.total, Method: method, Minutes: int(took.Minutes() + 0.5),
		Workspace: fmt.Sprintf("%d files, %.1f MB; each later state writes %d of them again", files, float64(h.bytes)/1e6, changes),
	}
	for _, l := range lanes {
		info := toolInfo{Name: l.tool.name(), Version: l.tool.version(), Files: map[string]int{}, notes: l.tool.notes()}
		for kind, blobs := range l.kinds {
			info.Files[kind] = len(blobs)
		}
		r.Tools = append(r.Tools, info)
		for _, o := range l.done {
			r.cases = append(r.cases, o)
			addTo(&r.Rows, row{Tool: o.Tool, Damage: o.Damage}, o)
			addTo(&r.Kinds, row{Tool: o.Tool, Damage: o.Damage, Kind: o.Kind}, o)
		}
	}
	slices.SortStableFunc(r.Kinds, func(a, b row) int { return strings.Compare(a.Tool+a.Kind, b.Tool+b.Kind) })
	return r
}

func addTo(rows *[]row, key row, o outcome) {
	i := slices.IndexFunc(*rows, func(r row) bool { return r.Tool == key.Tool && r.Damage == key.Damage && r.Kind == key.Kind })
	if i < 0 {
		i = len(*rows)
		*rows = append(*rows, key)
	}
	r := &(*rows)[i]
	r.Cases++
	r.Before.add(o.Before)
	r.After.add(o.After)
}

// table prints what is in the rows. Shares are of all snapshots and files of all cases.
func (r *results) table(to io.Writer) {
	w := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "tool\tdamage\tkind\tcases\t\tsnapshots exact\tfiles exact\tall exact\tnewest exact\tnew backup exact\tnothing opens\twrong, exit 0\tmissing, exit 0\tnot named")
	for _, rows := range [][]row{r.Rows, r.Kinds} {
		for _, x := range rows {
			for i, s := range []sums{x.Before, x.After} {
				fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%s\t%.2f %%\t%.2f %%\t%d\t%d\t%d\t%d\t%d\t%d\t%d\n", x.Tool, x.Damage, x.Kind, x.Cases, [...]string{"before", "after"}[i],
					share(s.Snapshots, x.Cases*states), share(s.Files, x.Cases*r.Files), s.AllExact, s.Newest, s.New, s.Nothing, s.SilentWrong, s.SilentMissing, s.Unnamed)
			}
		}
	}
	w.Flush() //nolint:errcheck // to the terminal
}

func share(n, of int) float64 { return 100 * float64(n) / float64(max(of, 1)) }

// load reads the results of an earlier run.
func load(path string, seed int64) (*results, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	r := &struct {
		*results
		Cases []outcome `json:"cases"`
	}{results: &results{}}
	if err := json.Unmarshal(b, r); err != nil {
		return nil, fmt.Errorf("read results: %w", err)
	}
	if r.Seed != seed {
		return nil, fmt.Errorf("read results: they have the seed %d", r.Seed)
	}
	r.cases = r.Cases
	return r.results, nil
}

// of returns the cases of one tool.
func (r *results) of(tool string) (out []outcome) {
	for _, o := range r.cases {
		if o.Tool == tool {
			out = append(out, o)
		}
	}
	return out
}

// write puts each case on a line of its own below the indented figures.
func (r *results) write(path string) error {
	head, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write results: %w", err)
	}
	var b bytes.Buffer
	b.Write(bytes.TrimSuffix(head, []byte("\n}")))
	b.WriteString(",\n  \"cases\": [")
	for i, o := range r.cases {
		line, err := json.Marshal(o)
		if err != nil {
			return fmt.Errorf("write results: %w", err)
		}
		b.WriteString([...]string{",\n    ", "\n    "}[btoi(i == 0)])
		b.Write(line)
	}
	b.WriteString("\n  ]\n}\n")
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
