package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// tell puts all of it in order: what happened to HEAD first.
func (r *gitRepo) tell() []retake.Fact {
	if r.gone {
		return []retake.Fact{r.fact(retake.Deleted, "repository", "", "")}
	}
	var out []retake.Fact
	for _, s := range r.steps() {
		f := r.fact(retake.Edited, s.words(), shortCommit(s.before), shortCommit(s.after))
		f.Group = s.note
		out = append(out, f)
	}
	if len(out) == 0 && r.moved[0] != r.moved[1] && r.moved[1] != "" {
		out = append(out, r.fact(retake.Edited, "HEAD", r.moved[0], r.moved[1]))
	}
	switch {
	case len(r.stashed) > 0:
		out = append(out, r.fact(retake.Added, "stash", "", shortCommit(r.stashed[len(r.stashed)-1].after)))
	case r.unstash:
		out = append(out, r.fact(retake.Deleted, "stash", "", ""))
	}
	pulled := slices.ContainsFunc(out, func(f retake.Fact) bool { return strings.HasPrefix(f.Name, "pull") })
	for _, f := range r.remotes {
		if !pulled || !strings.HasPrefix(f.Name, "fetch") {
			out = append(out, f)
		}
	}
	for _, f := range r.refs {
		name := strings.TrimPrefix(f.Name, "branch ")
		born := f.What == retake.Added && slices.ContainsFunc(out, func(o retake.Fact) bool {
			return o.After == name || strings.HasSuffix(o.Name, " "+name)
		})
		if !born { // else the step that made it speaks of it
			out = append(out, f)
		}
	}
	return out
}

// gitStep is one thing that moved HEAD.
type gitStep struct {
	verb, branch, text string
	before, after      string
	times              int
	note               string
}

func (s gitStep) words() string {
	verb := s.verb
	if s.times > 1 && s.verb == "commit" {
		verb = fmt.Sprintf("%d %ss", s.times, s.verb)
	}
	words := strings.Join(slices.DeleteFunc([]string{verb, s.branch}, func(w string) bool { return w == "" }), " ")
	if s.text != "" && s.times <= 1 {
		words += " “" + s.text + "”"
	}
	return words
}

// steps are the new lines of HEAD's log as steps that a person would name.
func (r *gitRepo) steps() []gitStep {
	var out []gitStep
	for i, l := range r.head {
		s, ok := r.step(l)
		if !ok {
			continue
		}
		if n := len(out) - 1; n >= 0 && joins(out[n], s) {
			out[n].times, out[n].after = out[n].times+1, s.after
			out[n].branch = cmp.Or(s.branch, out[n].branch)
			out[n].text = s.text
			continue
		}
		if s.verb == "reset" {
			s.note = r.back(len(r.history)-len(r.head)+i, l)
		}
		out = append(out, s)
	}
	return out
}

// joins reports whether a step goes on with the one before: commits in a row, and all
// parts of one rebase.
func joins(a, b gitStep) bool {
	return a.verb == b.verb && (a.verb == "commit" && a.branch == b.branch || a.verb == "rebase")
}

// step names one line.
func (r *gitRepo) step(l reflogLine) (gitStep, bool) {
	verb, text, _ := strings.Cut(l.deed, ": ")
	word, rest, _ := strings.Cut(verb, " ")
	s := gitStep{verb: gitText(word), branch: r.branchOf(l), before: l.before, after: l.after, times: 1}
	switch word {
	case "commit":
		s.text = gitText(text)
		if rest == "(amend)" {
			s.verb = "commit --amend"
		}
	case "reset":
		if len(r.stashed) > 0 && l.before == l.after {
			return s, false // a part of a stash
		}
	case "checkout":
		from, to, ok := strings.Cut(strings.TrimPrefix(text, "moving from "), " to ")
		if !ok {
			break
		}
		s.branch, s.before, s.after = "", "", ""
		s.verb = "checkout " + branchOrCommit(from) + " → " + branchOrCommit(to)
	case "rebase":
		s.text = ""
		if strings.HasPrefix(rest, "(abort") {
			s.verb = "rebase --abort"
		}
	case "merge", "pull":
		s.verb = strings.TrimSpace(word + " " + gitText(rest))
	case "cherry-pick", "revert":
		s.text = gitText(text)
	case "clone":
		s.before = ""
	}
	return s, s.verb != ""
}

func branchOrCommit(s string) string {
	if isCommit(s) {
		return shortCommit(s)
	}
	return gitText(s)
}

// branchOf is the branch whose log has the same step.
func (r *gitRepo) branchOf(l reflogLine) string {
	for name, lines := range r.branches {
		for _, b := range lines {
			if b.after == l.after && b.stamp == l.stamp && (b.before == l.before || strings.HasPrefix(b.deed, "rebase")) {
				return gitText(name)
			}
		}
	}
	return ""
}

// back counts the commits that a reset leaves behind, as far as the log knows them.
func (r *gitRepo) back(at int, l reflogLine) string {
	now, n := l.before, 0
	for _, old := range slices.Backward(r.history[:max(0, min(at, len(r.history)))]) {
		if now == l.after {
			break
		}
		if old.after != now || !strings.HasPrefix(old.deed, "commit") {
			continue
		}
		now = old.before
		if !strings.HasPrefix(old.deed, "commit (amend)") {
			n++
		}
	}
	switch {
	case now != l.after || n == 0:
		return ""
	case n == 1:
		return "1 commit back"
	}
	return fmt.Sprintf("%d commits back", n)
}

// git tells what git did; its files are behind that.
func (d *digester) git() {
	d.open(retake.ThemeGit)
	for i, f := range of(d.facts, retake.FactGit) {
		if i == 0 {
			d.add(f.GitWords(), d.untold(retake.ThemeGit)...)
			continue
		}
		d.add(f.GitWords())
	}
}
