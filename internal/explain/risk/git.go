package risk

import (
	"path"
	"strings"

	"github.com/retake-dev/retake"
)

// judgeGit judges git. Operations that git refuses when something would be lost are left to
// git.
func judgeGit(j *callJudge, c *command) {
	for _, set := range c.flagValues("-c") {
		if name, text, ok := strings.Cut(set, "=!"); ok && strings.HasPrefix(name, "alias.") {
			j.judgeChild(text, c.depth+1)
		}
	}
	sub, dirs := gitSubcommand(c)
	for _, set := range c.flagValues("-c") {
		if name, text, ok := strings.Cut(set, "="); ok && sub != nil && name == "alias."+sub.name() && !strings.HasPrefix(text, "!") {
			j.judgeChild("git "+text+" "+joinWords(sub.args()), c.depth+1)
			return
		}
	}
	if sub == nil || sub.isDryRun() {
		return
	}
	if tree := c.envValue("GIT_WORK_TREE"); tree != "" && len(dirs) == 0 {
		dirs = []word{plainWord(tree)}
	}
	if f := gitJudges[sub.name()]; f != nil {
		j.inDirectory(c, dirs, func() { f(j, sub) })
	}
}

// gitSubcommand returns the command from its verb on, as in reset --hard, and the directories that git
// is told to work in.
func gitSubcommand(c *command) (sub *command, dirs []word) {
	for i := 1; i < len(c.words); i++ {
		t := c.words[i].text
		switch {
		case containsWord("-C -c --git-dir --work-tree --namespace", t):
			if i++; i < len(c.words) && (t == "-C" || t == "--work-tree") {
				dirs = append(dirs, c.words[i])
			}
		case strings.HasPrefix(t, "--work-tree="):
			dirs = append(dirs, c.words[i].afterFlag(len("--work-tree=")))
		case strings.HasPrefix(t, "-"):
		default:
			return c.commandFrom(i), dirs
		}
	}
	return nil, nil
}

// addGitDanger records what git does to the files or the commits of the repository that it works in.
func (j *callJudge) addGitDanger(rule, why string) { j.addDanger(rule, why, j.targetHere()) }

// pathTargets returns the files that git is told to change. Names that only git understands stand
// for all.
func (j *callJudge) pathTargets(c *command, paths []word) []Target {
	for _, w := range paths {
		if strings.HasPrefix(w.text, ":") || !w.hasGlob && strings.ContainsAny(w.text, "*?[") {
			return []Target{j.targetHere()}
		}
	}
	if len(paths) == 0 && !c.generatedArgs {
		return []Target{j.targetHere()}
	}
	return j.fileTargets(c, paths, false)
}

var gitJudges = map[string]func(*callJudge, *command){
	"reset": func(j *callJudge, c *command) {
		if c.hasFlag("--hard", "--merge") {
			j.addGitDanger("git-discard", "resets the files to "+cleanText(firstOr(c.operands(""), "HEAD"), 40))
		}
	},
	"clean": func(j *callJudge, c *command) {
		unforced := strings.Contains(c.text, "clean.requireForce=false")
		if (unforced || c.hasFlag("-f", "--force")) && !c.hasFlag("-n") {
			j.addDanger("git-discard", "deletes what git does not know", j.pathTargets(c, c.operandWords("-e --exclude"))...)
		}
	},
	"checkout": judgeGitCheckout,
	"switch": func(j *callJudge, c *command) {
		if c.hasFlag("-f", "--force", "--discard-changes") {
			j.addGitDanger("git-discard", "drops the changes that are not committed")
		}
	},
	"restore": func(j *callJudge, c *command) {
		if !c.hasFlag("--staged", "-S") || c.hasFlag("--worktree", "-W") {
			paths := c.operandWords("-s --source -p")
			j.addDanger("git-discard", joinNames("takes back the changes of", wordTexts(paths)), j.pathTargets(c, paths)...)
		}
	},
	"stash": func(j *callJudge, c *command) {
		if v := firstOr(c.operands(""), ""); v == "drop" || v == "clear" {
			j.addGitDanger("git-refs", "drops changes that were set aside")
		}
	},
	"branch": func(j *callJudge, c *command) {
		if c.hasFlag("-D", "-M") || c.hasFlag("-d", "--delete") && c.hasFlag("-f", "--force") {
			j.addGitDanger("git-refs", joinNames("deletes the branch", c.operands("")))
		}
	},
	"tag": func(j *callJudge, c *command) {
		if c.hasFlag("-d", "--delete") {
			j.addGitDanger("git-refs", joinNames("deletes the tag", c.operands("")))
		}
	},
	"update-ref": func(j *callJudge, c *command) {
		if c.hasFlag("-d") {
			j.addGitDanger("git-refs", joinNames("deletes", c.operands("")))
		}
	},
	"reflog": func(j *callJudge, c *command) {
		if v := firstOr(c.operands(""), ""); v == "expire" || v == "delete" {
			j.addGitDanger("git-refs", "forgets where branches were")
		}
	},
	"gc": func(j *callJudge, c *command) {
		if v, ok := c.flagValue("--prune"); ok && v == "now" {
			j.addGitDanger("git-refs", "deletes what no branch reaches")
		}
	},
	"rebase": func(j *callJudge, c *command) {
		if !c.hasFlag("--show-current-patch", "--edit-todo") {
			j.addGitDanger("git-rewrite", "rewrites commits")
		}
	},
	"filter-branch": func(j *callJudge, _ *command) { j.addGitDanger("git-rewrite", "rewrites all commits") },
	"filter-repo":   func(j *callJudge, _ *command) { j.addGitDanger("git-rewrite", "rewrites all commits") },
	"rm": func(j *callJudge, c *command) {
		if !c.hasFlag("--cached", "-n") {
			paths := c.operandWords("--pathspec-from-file")
			j.addDanger("delete-files", joinNames("deletes", wordTexts(paths)), j.pathTargets(c, paths)...)
		}
	},
	"worktree": func(j *callJudge, c *command) {
		if list := c.operandWords(""); len(list) > 0 && list[0].text == "remove" && c.hasFlag("-f", "--force") {
			j.addDanger("delete-files", joinNames("deletes the worktree", wordTexts(list[1:])), j.fileTargets(c, list[1:], false)...)
		}
	},
	"submodule": func(j *callJudge, c *command) {
		if list := c.operandWords(""); len(list) > 0 && list[0].text == "deinit" && c.hasFlag("-f", "--force", "--all") {
			j.addDanger("delete-files", "deletes the files of submodules", j.pathTargets(c, list[1:])...)
		}
	},
	"merge":       judgeGitAbort,
	"cherry-pick": judgeGitAbort,
	"revert":      judgeGitAbort,
	"am":          judgeGitAbort,
	"push":        judgeGitPush,
	"lfs": func(j *callJudge, c *command) {
		if list := c.operands(""); len(list) > 0 && list[0] == "push" {
			j.addEffect("push", strings.Join(list[1:], " "), c)
		}
	},
	"subtree": func(j *callJudge, c *command) {
		if list := c.operands("-P --prefix"); firstOr(list, "") == "push" {
			j.addEffect("push", strings.Join(list[1:], " "), c)
		}
	},
	"svn": func(j *callJudge, c *command) {
		if firstOr(c.operands(""), "") == "dcommit" {
			j.addEffect("push", "svn", c)
		}
	},
	"read-tree": func(j *callJudge, c *command) {
		if c.hasFlag("-u") && c.hasFlag("--reset") {
			j.addGitDanger("git-discard", "resets the files")
		}
	},
	"checkout-index": func(j *callJudge, c *command) {
		if c.hasFlag("-f", "--force") {
			j.addGitDanger("git-discard", "resets the files to the index")
		}
	},
	"send-email": func(j *callJudge, c *command) {
		to, _ := c.flagValue("--to")
		j.addEffect("mail", to, c)
	},
	"config": func(j *callJudge, c *command) {
		if c.hasFlag("--global", "--system") && !c.hasFlag("--get", "--list", "-l", "--get-all", "--get-regexp") && len(c.operands("")) > 1 {
			j.addEffect("machine", "git settings", c)
		}
	},
}

func judgeGitAbort(j *callJudge, c *command) {
	if c.hasFlag("--abort") {
		j.addGitDanger("git-discard", "drops a "+c.name()+" that is under way")
	}
}

// judgeGitCheckout judges git checkout. A branch is safe, because git refuses to lose
// changes; a path is overwritten without a question.
func judgeGitCheckout(j *callJudge, c *command) {
	list := c.operandWords("-b -B --orphan --conflict --pathspec-from-file")
	paths := list
	if at := dashDashIndex(c); at >= 0 {
		paths = list[max(0, len(list)-(len(c.words)-at-1)):]
	} else if c.hasFlag("-b", "-B", "--orphan", "-t", "--track") {
		return
	} else if len(list) == 1 && !looksLikePath(list[0].text) {
		paths = nil
	} else if len(list) > 1 && !looksLikePath(list[0].text) {
		paths = list[1:]
	}
	switch {
	case len(paths) > 0:
		j.addDanger("git-discard", joinNames("takes back the changes of", wordTexts(paths)), j.pathTargets(c, paths)...)
	case c.hasFlag("-f", "--force"):
		j.addGitDanger("git-discard", "drops the changes that are not committed")
	}
}

// dashDashIndex returns the index of "--", or -1.
func dashDashIndex(c *command) int {
	for i, w := range c.words {
		if w.text == "--" {
			return i
		}
	}
	return -1
}

// looksLikePath reports whether a word is a path and not a branch: it has an extension, or
// dots and slashes that branches do not have.
func looksLikePath(s string) bool {
	ext := path.Ext(s)
	return s == "." || s == ".." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasSuffix(s, "/") ||
		strings.ContainsAny(s, "*") || len(ext) > 1 && len(ext) < 6 && isLetters(ext[1:])
}

// judgeGitPush records a push, and whether it is forced.
func judgeGitPush(j *callJudge, c *command) {
	if c.hasFlag("-n", "--dry-run") {
		return
	}
	list := c.operands("-o --push-option --repo --receive-pack --exec")
	target := strings.Join(list, " ")
	if rewritesRemote(c, list) {
		addUnrecoverable(j, retake.GateForcePush, target, c)
	}
	if containsWord("heroku dokku production", firstOr(list, "")) {
		addUnrecoverable(j, retake.GateDeploy, target, c) // such a remote builds and starts what it gets
	}
	if c.hasFlag("-f", "--force", "--force-with-lease", "--force-if-includes") {
		target = strings.TrimSpace(target + " (forced)")
	}
	if target == "" {
		target = "the default remote"
	}
	j.addEffect("push", target, c)
}
