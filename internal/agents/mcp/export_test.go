package mcp

import "strings"

// Compare gives the lines of a comparison, each with its sign.
func Compare(a, b string) []string {
	var out []string
	for _, e := range compareLines(splitLines(a), splitLines(b), 0) {
		out = append(out, string(e.op)+e.line)
	}
	return out
}

// Hunks draws a comparison in at most so many bytes.
func Hunks(a, b string, most int) (string, int) {
	return formatHunks(compareLines(splitLines(a), splitLines(b), 0), most)
}

// DataNotice is what every description ends with.
const DataNotice = dataNotice

// Personal are the classes that an agent may not accept.
func Personal() string { return strings.Join(personOnlyClasses, " ") }
