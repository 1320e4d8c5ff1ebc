package story

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// collectFacts returns all facts about the repository, those about HEAD first.
func (r *gitRepo) collectFacts() []retake.Fact {
	if r.isDeleted {
		return []retake.Fact{r.newFact(retake.Deleted, "repository", "", "")}
	}
	var out []retake.Fact
	for _, s := range r.headSteps() {
		f := r.newFact(retake.Edited, s.description(), shortCommit(s.before), shortCommit(s.after))
		f.Group = s.note
		out = append(out, f)
	}
	if len(out) == 0 && r.headNames[0] != r.headNames[1] && r.headNames[1] != "" {
		out = append(out, r.newFact(retake.Edited, "HEAD", r.headNames[0], r.headNames[1]))
	}
	switch {
	case len(r.stashLines) > 0:
		out = append(out, r.newFact(retake.Added, "stash", "", shortCommit(r.stashLines[len(r.stashLines)-1].after)))
	case r.stashDropped:
		out = append(out, r.newFact(retake.Deleted, "stash", "", ""))
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
		if !born { // else the step that created it mentions it
			out = append(out, f)
		}
	}
	return out
}

// gitStep is one action that moved HEAD.
type gitStep struct {
	verb, branch, text string
	before, after      string
	count              int
	note               string
}

func (s gitStep) description() string {
	verb := s.verb
	if s.count > 1 && s.verb == "commit" {
		verb = fmt.Sprintf("%d %ss", s.count, s.verb)
	}
	words := strings.Join(slices.DeleteFunc([]string{verb, s.branch}, func(w string) bool { return w == "" }), " ")
	if s.text != "" && s.count <= 1 {
		words += " “" + s.text + "”"
	}
	return words
}

// headSteps groups the new lines of HEAD's reflog into steps that a person would name.
func (r *gitRepo) headSteps() []gitStep {
	var out []gitStep
	for i, l := range r.newHeadLines {
		s, ok := r.parseStep(l)
		if !ok {
			continue
		}
		if n := len(out) - 1; n >= 0 && continuesStep(out[n], s) {
			out[n].count, out[n].after = out[n].count+1, s.after
			out[n].branch = cmp.Or(s.branch, out[n].branch)
			out[n].text = s.text
			continue
		}
		if s.verb == "reset" {
			s.note = r.commitsBackText(len(r.headHistory)-len(r.newHeadLines)+i, l)
		}
		out = append(out, s)
	}
	return out
}

// continuesStep reports whether step b belongs to step a: commits in a row, or parts of one
// rebase.
func continuesStep(a, b gitStep) bool {
	return a.verb == b.verb && (a.verb == "commit" && a.branch == b.branch || a.verb == "rebase")
}

// parseStep interprets one reflog line. It returns false for lines that are part of another
// action.
func (r *gitRepo) parseStep(l reflogLine) (gitStep, bool) {
	verb, text, _ := strings.Cut(l.message, ": ")
	word, rest, _ := strings.Cut(verb, " ")
	s := gitStep{verb: gitText(word), branch: r.stepBranch(l), before: l.before, after: l.after, count: 1}
	switch word {
	case "commit":
		s.text = gitText(text)
		if rest == "(amend)" {
			s.verb = "commit --amend"
		}
	case "reset":
		if len(r.stashLines) > 0 && l.before == l.after {
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
	if isCommitHash(s) {
		return shortCommit(s)
	}
	return gitText(s)
}

// stepBranch returns the branch whose reflog has the same step, or "".
func (r *gitRepo) stepBranch(l reflogLine) string {
	for name, lines := range r.branches {
		for _, b := range lines {
			if b.after == l.after && b.stamp == l.stamp && (b.before == l.before || strings.HasPrefix(b.message, "rebase")) {
				return gitText(name)
			}
		}
	}
	return ""
}

// commitsBackText counts the commits that a reset drops, as far as the reflog knows them.
func (r *gitRepo) commitsBackText(at int, l reflogLine) string {
	now, n := l.before, 0
	for _, old := range slices.Backward(r.headHistory[:max(0, min(at, len(r.headHistory)))]) {
		if now == l.after {
			break
		}
		if old.after != now || !strings.HasPrefix(old.message, "commit") {
			continue
		}
		now = old.before
		if !strings.HasPrefix(old.message, "commit (amend)") {
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

// addGit adds a point for each thing git did. The first one covers git's own files.
func (d *gistBuilder) addGit() {
	d.startSection(retake.ThemeGit)
	for i, f := range factsOfKind(d.facts, retake.FactGit) {
		if i == 0 {
			d.addPoint(f.GitWords(), d.uncoveredItems(retake.ThemeGit)...)
			continue
		}
		d.addPoint(f.GitWords())
	}
}
