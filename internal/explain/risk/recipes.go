package risk

import (
	"encoding/json"
	"strings"
)

// judgeRecipes judges what a build tool runs for the targets that it is given.
func judgeRecipes(j *callJudge, c *command) {
	before := j.deletions
	defer func() { c.wasRead = c.wasRead || j.deletions > before }()
	switch name := c.name(); {
	case containsWord("make gmake", name) && !onlyShows(c):
		judgeMake(j, c)
	case containsWord("npm pnpm yarn bun", name):
		judgePackageScript(j, c)
	}
}

func judgeMake(j *callJudge, c *command) {
	goals, set := []string{}, map[string]string{}
	for _, o := range c.operands("-C --directory -f --file -j -I -o -W -l") {
		if name, value, ok := strings.Cut(o, "="); ok {
			set[name] = value
			continue
		}
		goals = append(goals, o)
	}
	if files := c.flagWords("-f", "--file", "--makefile"); len(files) > 0 {
		for _, f := range files {
			if f.text == "-" {
				runRecipes(j, c, parseMakefile(c.stdin, set), goals)
			}
			for _, place := range filePlaces(j, c, f) {
				runRecipes(j, c, parseMakefile(wantFile(j, place), set), goals)
			}
		}
		return
	}
	for _, name := range []string{"GNUmakefile", "makefile", "Makefile"} {
		for _, place := range j.places(form{text: name}) {
			if text := wantFile(j, place); text != "" {
				runRecipes(j, c, parseMakefile(text, set), goals)
				return
			}
		}
	}
}

// makefile is what the text of a makefile says plainly: no pattern rules, includes or functions.
type makefile struct {
	first string
	needs map[string][]string
	lines map[string][]string // the recipes
}

// parseMakefile reads the rules of a makefile. Variables of the command line go before its own.
func parseMakefile(text string, set map[string]string) *makefile {
	m := &makefile{needs: map[string][]string{}, lines: map[string][]string{}}
	values := map[string]string{}
	var targets []string
	for line := range strings.SplitSeq(strings.ReplaceAll(text, "\\\n", " "), "\n") {
		if recipe, ok := strings.CutPrefix(line, "\t"); ok {
			for _, t := range targets {
				m.lines[t] = append(m.lines[t], expandMake(strings.TrimLeft(recipe, "@-+ "), values))
			}
			continue
		}
		line, _, _ = strings.Cut(line, "#")
		left, right, ok := strings.Cut(line, ":")
		switch name, value, isVariable := strings.Cut(line, "="); {
		case isVariable && (!ok || len(name) <= len(left)+1):
			name = strings.TrimSpace(strings.TrimRight(name, ":?+! "))
			if values[name] = expandMake(strings.TrimSpace(value), values); set[name] != "" {
				values[name] = set[name]
			}
			targets = nil
		case ok:
			targets = strings.Fields(left)
			needs, recipe, _ := strings.Cut(right, ";")
			for _, t := range targets {
				if m.first == "" && t[0] != '.' {
					m.first = t
				}
				m.needs[t] = append(m.needs[t], strings.Fields(expandMake(needs, values))...)
				if recipe != "" {
					m.lines[t] = append(m.lines[t], expandMake(recipe, values))
				}
			}
		case strings.TrimSpace(line) != "":
			targets = nil
		}
	}
	return m
}

// expandMake turns a text of a makefile into one of a shell. What only make knows stays a variable
// that nobody sets.
func expandMake(text string, values map[string]string) string {
	var b strings.Builder
	for {
		before, rest, ok := strings.Cut(text, "$")
		b.WriteString(before)
		if !ok || rest == "" {
			return b.String()
		}
		end := strings.IndexAny(rest, ")}")
		switch {
		case rest[0] == '$':
			b.WriteByte('$')
			text = rest[1:]
		case end > 0 && (rest[0] == '(' || rest[0] == '{'):
			name := rest[1:end]
			value, known := values[name]
			switch {
			case known:
				b.WriteString(value)
			case isAssignment(name+"=") && !strings.ContainsAny(name, " $@<^*%+?"):
				b.WriteString("${" + name + "}")
			default:
				b.WriteString("${of_make}")
			}
			text = rest[end+1:]
		default:
			b.WriteString("${of_make}")
			text = rest[1:]
		}
	}
}

// runRecipes judges the recipes of targets, and of all that they need.
func runRecipes(j *callJudge, c *command, m *makefile, goals []string) {
	if len(goals) == 0 {
		goals = []string{m.first}
	}
	seen := map[string]bool{}
	for len(goals) > 0 {
		goal := goals[0]
		goals = goals[1:]
		if seen[goal] {
			continue
		}
		seen[goal] = true
		goals = append(goals, m.needs[goal]...)
		for _, line := range m.lines[goal] {
			j.judgeChild(line, c.depth+1)
		}
	}
}

// judgePackageScript judges the script of a package.json that a command runs.
func judgePackageScript(j *callJudge, c *command) {
	list := c.operandWords("-C --prefix --dir --cwd -w --workspace --filter -F")
	if len(list) > 1 && containsWord("run run-script", list[0].text) {
		list = list[1:]
	} else if len(list) == 0 || c.name() == "npm" && !containsWord("test start stop restart", list[0].text) {
		return
	}
	name := list[0].text
	for _, place := range j.places(form{text: "package.json"}) {
		var p struct {
			Scripts map[string]string `json:"scripts"`
		}
		if json.Unmarshal([]byte(wantFile(j, place)), &p) != nil {
			continue
		}
		for _, script := range []string{p.Scripts["pre"+name], p.Scripts[name], p.Scripts["post"+name]} {
			withArguments(j, c, "", list[1:], func() { j.judgeChild(script, c.depth+1) })
		}
	}
}
