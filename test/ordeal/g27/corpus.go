//go:build linux

package g27

import (
	"fmt"
	"strings"
)

// corpus is every call that is played, the same ones in the same order each time. Calls that delete
// the home directory come last.
func corpus() []play {
	var all []play
	for _, part := range []func() []play{
		fileVerbs, dirVerbs, spelled, wrapped, oddlyNamed, linked, gitPlays, dataPlays, scriptPlays, manyPlays, toolPlays, mcpPlays, driftedPlays,
		harmlessPlays, homePlays,
	} {
		all = append(all, part()...)
	}
	return finish(all)
}

func plain(class string, texts ...string) []play {
	var all []play
	for _, t := range texts {
		all = append(all, play{class: class, text: t})
	}
	return all
}

// quoted is a text in single quotes.
func quoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// doubled is a text in double quotes.
func doubled(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "`", "\\`", "$", `\$`).Replace(s) + `"`
}

// ansi is a text in $'…'.
func ansi(s string) string {
	var b strings.Builder
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\'' || c == '\\':
			b.WriteString(`\` + string(c))
		case c < ' ' || c > '~':
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}

// escaped is a text with backslashes. A line break cannot be written in this way.
func escaped(s string) string {
	var b strings.Builder
	for _, c := range s {
		if c == '\n' {
			b.WriteString("$'\\n'")
			continue
		}
		if strings.ContainsRune(" '\"\\*$;#\t~[]{},&`!|()<>?=%@", c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
