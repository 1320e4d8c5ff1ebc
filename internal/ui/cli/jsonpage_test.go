package cli_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/retake-dev/retake/internal/ui/cli"
)

// jsonPage makes docs/use/json.md: one section for each command, and one for each object
// that stands in more than one place.
type jsonPage struct {
	b      strings.Builder
	texts  map[string]map[string]string // by type and field
	places map[reflect.Type]int         // where an object stands
	wants  []string                     // what nobody explains
	used   map[string]bool              // texts that were
	fields int
}

const jsonWidth = 130

func newJSONPage(root *cobra.Command, texts map[string]map[string]string) *jsonPage {
	p := &jsonPage{texts: texts, places: map[reflect.Type]int{}, used: map[string]bool{}}
	all := []*cobra.Command{root}
	walkCommands(root, func(cmd *cobra.Command) { all = append(all, cmd) })
	for _, cmd := range all {
		for _, a := range cli.JSONAnswers[commandName(cmd)] {
			p.count(reflect.TypeOf(a.Value))
		}
	}
	p.count(reflect.TypeOf(cli.JSONError))
	p.b.WriteString(jsonIntro)
	p.errors()
	p.b.WriteString("## Commands\n\n")
	for _, cmd := range all {
		p.command(cmd)
	}
	p.none()
	p.shared()
	return p
}

// commandName is a command without the name of the program.
func commandName(cmd *cobra.Command) string {
	return strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), "retake"), " ")
}

// count counts the places of each object that t leads to. One that was seen is described
// once, so its own objects do not count again.
func (p *jsonPage) count(t reflect.Type) {
	for _, e := range embedded(t) {
		p.counted(e)
	}
	for _, f := range declared(t) {
		if f.owner == t && object(f.typ) != nil {
			p.counted(object(f.typ))
		}
	}
}

func (p *jsonPage) counted(t reflect.Type) {
	if p.places[t]++; p.places[t] == 1 {
		p.count(t)
	}
}

func (p *jsonPage) errors() {
	p.b.WriteString("## Errors and exit codes\n\n" + jsonErrors + "\n")
	p.list(reflect.TypeOf(cli.JSONError), "")
	p.b.WriteString("\n| exit code | `kind` | meaning |\n|---|---|---|\n")
	for _, e := range cli.ExitCodes {
		fmt.Fprintf(&p.b, "| %d | %s | %s |\n", e.Code, code(e.Kind), e.Means)
	}
	p.b.WriteString("\n" + jsonExits + "\n")
}

func (p *jsonPage) command(cmd *cobra.Command) {
	answers := cli.JSONAnswers[commandName(cmd)]
	if len(answers) == 0 {
		return
	}
	fmt.Fprintf(&p.b, "### %s\n\n%s.\n", cmd.CommandPath(), cmd.Short)
	for i, a := range answers {
		if i > 0 || a.When != "" {
			fmt.Fprintf(&p.b, "\n%s:\n", wordOr(a.When, "Without these flags"))
		}
		if line := wordOr(a.Example, jsonExample(cmd)); i == 0 || a.Example != "" {
			fmt.Fprintf(&p.b, "\n```sh\n%s\n```\n", line)
		}
		p.b.WriteString("\n")
		p.list(reflect.TypeOf(a.Value), "")
	}
	p.b.WriteString("\n")
}

func wordOr(word, other string) string {
	if word == "" {
		return other
	}
	return word
}

// jsonExample is the first example of the command itself, asked for as JSON.
func jsonExample(cmd *cobra.Command) string {
	for _, line := range strings.Split(cmd.Example, "\n") {
		line, _, _ = strings.Cut(line, "  # ")
		if line = strings.TrimSpace(line); !strings.HasPrefix(line+" ", cmd.CommandPath()+" ") {
			continue
		}
		line = strings.TrimSuffix(line, " --json")
		for _, sign := range []string{" -- ", " < "} {
			if before, after, ok := strings.Cut(line, sign); ok {
				return before + " --json" + sign + after
			}
		}
		return line + " --json"
	}
	return cmd.CommandPath() + " --json"
}

func (p *jsonPage) none() {
	p.b.WriteString("## Commands without JSON\n\n| command | |\n|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(cli.JSONNone)) {
		fmt.Fprintf(&p.b, "| `retake %s` | %s |\n", name, cli.JSONNone[name])
	}
	p.b.WriteString("\n")
}

// shared describes the objects that stand in several places. More of them do not show up
// while they are written: all places were counted before.
func (p *jsonPage) shared() {
	p.b.WriteString("## Shared objects\n\nThe HTTP API returns most of these, too; see [API](../API.md).\n")
	var all []reflect.Type
	for t, n := range p.places {
		if n > 1 {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b reflect.Type) int { return strings.Compare(jsonTitle(a), jsonTitle(b)) })
	for _, t := range all {
		text := p.text(t, "")
		fmt.Fprintf(&p.b, "\n### %s\n\n%s\n\n", jsonTitle(t), strings.Join(wrapped(text, 0), "\n"))
		p.list(t, "")
	}
}

// list writes the fields of a type. What it embeds and stands elsewhere, too, is named.
func (p *jsonPage) list(t reflect.Type, indent string) {
	s, _ := shapeOf(t)
	named := map[reflect.Type]bool{}
	for _, e := range embedded(t) {
		if p.places[e] > 1 {
			p.item(indent, "the fields of "+jsonLink(e))
			for _, f := range declared(e) {
				named[f.owner] = true
			}
		}
	}
	for _, f := range s.fields {
		if f.key != "v" && !named[f.owner] {
			p.field(f, indent)
		}
	}
	if len(named) == 0 && len(s.raws) > 0 {
		p.item(indent, "`"+strings.Join(s.raws, "`, `")+"`: "+jsonRaw)
	}
}

func (p *jsonPage) field(f jsonField, indent string) {
	p.fields++
	word := p.word(f.typ)
	if f.optional {
		word += ", optional"
	}
	p.item(indent, fmt.Sprintf("`%s` (%s): %s", f.key, word, p.text(f.owner, f.key)))
	if o := object(f.typ); o != nil && p.places[o] == 1 {
		p.list(o, indent+"  ")
	}
}

// text explains a field, or a type without one. Answers of commands share some texts.
func (p *jsonPage) text(t reflect.Type, key string) string {
	of := textName(t)
	if p.texts[of][key] == "" && t.PkgPath() != retakePath {
		of = "*"
	}
	text := p.texts[of][key]
	if text == "" {
		p.wants = append(p.wants, textName(t)+" "+key)
	}
	p.used[of+" "+key] = true
	return text
}

// word is a type in the words of JSON.
func (p *jsonPage) word(t reflect.Type) string {
	switch t {
	case timeType:
		return "time"
	case durationType:
		return "duration"
	case rawType:
		return "object"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return p.word(t.Elem())
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return "base64"
		}
		return "list of " + plural(p.word(t.Elem()))
	case reflect.Map:
		return "map of " + plural(p.word(t.Elem()))
	case reflect.Struct:
		if p.places[t] > 1 {
			return jsonLink(t)
		}
		return "object"
	case reflect.Bool:
		return "boolean"
	case reflect.String:
		return "string"
	case reflect.Float32, reflect.Float64:
		return "number"
	default:
		return "integer"
	}
}

func plural(word string) string {
	if strings.HasPrefix(word, "[") || strings.HasPrefix(word, "list") || strings.HasPrefix(word, "base64") {
		return word
	}
	return word + "s"
}

// item is one entry of a list, in as many lines as it takes.
func (p *jsonPage) item(indent, text string) {
	lines := wrapped(text, len(indent)+2)
	p.b.WriteString(indent + "- " + strings.Join(lines, "\n"+indent+"  ") + "\n")
}

func wrapped(text string, indent int) []string {
	var lines []string
	line := ""
	for _, w := range strings.Fields(text) {
		if line != "" && len([]rune(line))+1+len([]rune(w))+indent > jsonWidth {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimSpace(line + " " + w)
	}
	return append(lines, line)
}
