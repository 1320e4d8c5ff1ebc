package arch

import (
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"strings"
)

var (
	entryName  = regexp.MustCompile(`^[0-9]{4}-[a-z0-9]+(?:-[a-z0-9]+)*\.md$`)
	entryLine  = regexp.MustCompile(`^(?:added|changed|fixed|faster|removed|security): \S.*[^.\s]$`)
	ourPackage = regexp.MustCompile(`\binternal/[a-z]+`)
)

// CheckChangelog holds every entry of the changelog against the form that
// changelog/README.md describes: a line with its kind, an empty line, a text for users.
// Release notes are put together from the entries, so one that differs shows there.
func CheckChangelog(tree fs.FS) ([]Complaint, error) {
	names, err := fs.Glob(tree, "changelog/*/*")
	if err != nil {
		return nil, err
	}
	var found []Complaint
	for _, name := range names {
		if !entryName.MatchString(path.Base(name)) {
			found = append(found, Complaint{File: name, Text: "an entry is named NNNN-what-changed.md"})
			continue
		}
		src, err := fs.ReadFile(tree, name)
		if err != nil {
			return nil, fmt.Errorf("read changelog entry: %w", err)
		}
		found = append(found, entry(name, strings.Split(strings.TrimRight(string(src), "\n"), "\n"))...)
	}
	return found, nil
}

func entry(name string, lines []string) []Complaint {
	var found []Complaint
	complain := func(line int, text string) { found = append(found, Complaint{File: name, Line: line, Text: text}) }
	if !entryLine.MatchString(lines[0]) {
		complain(1, `the first line is "added|changed|fixed|faster|removed|security: what is different", without a full stop`)
	}
	switch {
	case len(lines) < 3:
		complain(0, "a text for users follows the first line and an empty one")
	case lines[1] != "":
		complain(2, "the line below the first is empty")
	case lines[2] == "":
		complain(3, "the text begins after one empty line")
	}
	for i, line := range lines {
		if i > 0 && strings.HasPrefix(line, "#") {
			complain(i+1, "an entry has no headings")
		}
		if m := ourPackage.FindString(line); m != "" {
			complain(i+1, m+" is a package: say what the user sees")
		}
	}
	return found
}
