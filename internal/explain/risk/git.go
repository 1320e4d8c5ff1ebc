package risk

import (
	"path"
	"strings"
)

// git: what git refuses when something would be lost is left to it.
func (j *judge) git(c *command) {
	sub := gitSub(c)
	if sub == nil || sub.dry() {
		return
	}
	if f := gitVerbs[sub.name()]; f != nil {
		f(j, sub)
	}
}

// gitSub is the command from its verb on: reset --hard.
func gitSub(c *command) *command {
	for i := 1; i < len(c.words); i++ {
		t := c.words[i].text
		switch {
		case within("-C -c --git-dir --work-tree --namespace", t):
			i++
		case strings.HasPrefix(t, "-"):
		default:
			return c.after(i)
		}
	}
	return nil
}

var gitVerbs = map[string]func(*judge, *command){
	"reset": func(j *judge, c *command) {
		if c.has("--hard", "--merge") {
			j.destroys("git-discard", "resets the files to "+plain(first(c.operands(""), "HEAD"), 40))
		}
	},
	"clean": func(j *judge, c *command) {
		if c.has("-f", "--force") && !c.has("-n") {
			j.destroys("git-discard", "deletes what git does not know")
		}
	},
	"checkout": (*judge).gitCheckout,
	"switch": func(j *judge, c *command) {
		if c.has("-f", "--force", "--discard-changes") {
			j.destroys("git-discard", "drops the changes that are not committed")
		}
	},
	"restore": func(j *judge, c *command) {
		if !c.has("--staged", "-S") || c.has("--worktree", "-W") {
			j.destroys("git-discard", names("takes back the changes of", c.operands("-s --source -p")))
		}
	},
	"stash": func(j *judge, c *command) {
		if v := first(c.operands(""), ""); v == "drop" || v == "clear" {
			j.destroys("git-refs", "drops changes that were set aside")
		}
	},
	"branch": func(j *judge, c *command) {
		if c.has("-D", "-M") || c.has("-d", "--delete") && c.has("-f", "--force") {
			j.destroys("git-refs", names("deletes the branch", c.operands("")))
		}
	},
	"tag": func(j *judge, c *command) {
		if c.has("-d", "--delete") {
			j.destroys("git-refs", names("deletes the tag", c.operands("")))
		}
	},
	"update-ref": func(j *judge, c *command) {
		if c.has("-d") {
			j.destroys("git-refs", names("deletes", c.operands("")))
		}
	},
	"reflog": func(j *judge, c *command) {
		if v := first(c.operands(""), ""); v == "expire" || v == "delete" {
			j.destroys("git-refs", "forgets where branches were")
		}
	},
	"gc": func(j *judge, c *command) {
		if v, ok := c.value("--prune"); ok && v == "now" {
			j.destroys("git-refs", "deletes what no branch reaches")
		}
	},
	"rebase": func(j *judge, c *command) {
		if !c.has("--show-current-patch", "--edit-todo") {
			j.destroys("git-rewrite", "rewrites commits")
		}
	},
	"filter-branch": func(j *judge, _ *command) { j.destroys("git-rewrite", "rewrites all commits") },
	"filter-repo":   func(j *judge, _ *command) { j.destroys("git-rewrite", "rewrites all commits") },
	"rm": func(j *judge, c *command) {
		if !c.has("--cached", "-n") {
			j.destroys("delete-files", names("deletes", c.operands("")))
		}
	},
	"worktree": func(j *judge, c *command) {
		if list := c.operands(""); first(list, "") == "remove" && c.has("-f", "--force") {
			j.destroys("delete-files", names("deletes the worktree", list[1:]))
		}
	},
	"submodule": func(j *judge, c *command) {
		if first(c.operands(""), "") == "deinit" && c.has("-f", "--force", "--all") {
			j.destroys("delete-files", "deletes the files of submodules")
		}
	},
	"merge":       (*judge).gitAbort,
	"cherry-pick": (*judge).gitAbort,
	"revert":      (*judge).gitAbort,
	"am":          (*judge).gitAbort,
	"push":        (*judge).gitPush,
	"lfs": func(j *judge, c *command) {
		if list := c.operands(""); len(list) > 0 && list[0] == "push" {
			j.outside("push", strings.Join(list[1:], " "), c)
		}
	},
	"subtree": func(j *judge, c *command) {
		if list := c.operands("-P --prefix"); first(list, "") == "push" {
			j.outside("push", strings.Join(list[1:], " "), c)
		}
	},
	"svn": func(j *judge, c *command) {
		if first(c.operands(""), "") == "dcommit" {
			j.outside("push", "svn", c)
		}
	},
	"read-tree": func(j *judge, c *command) {
		if c.has("-u") && c.has("--reset") {
			j.destroys("git-discard", "resets the files")
		}
	},
	"checkout-index": func(j *judge, c *command) {
		if c.has("-f", "--force") {
			j.destroys("git-discard", "resets the files to the index")
		}
	},
	"send-email": func(j *judge, c *command) {
		to, _ := c.value("--to")
		j.outside("mail", to, c)
	},
	"config": func(j *judge, c *command) {
		if c.has("--global", "--system") && !c.has("--get", "--list", "-l", "--get-all", "--get-regexp") && len(c.operands("")) > 1 {
			j.outside("machine", "git settings", c)
		}
	},
}

func (j *judge) gitAbort(c *command) {
	if c.has("--abort") {
		j.destroys("git-discard", "drops a "+c.name()+" that is under way")
	}
}

// gitCheckout: a branch is safe, because git refuses to lose changes; a path is
// written over without a word.
func (j *judge) gitCheckout(c *command) {
	list := c.operands("-b -B --orphan --conflict --pathspec-from-file")
	paths := list
	if at := dashes(c); at >= 0 {
		paths = list[max(0, len(list)-(len(c.words)-at-1)):]
	} else if c.has("-b", "-B", "--orphan", "-t", "--track") {
		return
	} else if len(list) == 1 && !isPath(list[0]) {
		paths = nil
	} else if len(list) > 1 && !isPath(list[0]) {
		paths = list[1:]
	}
	switch {
	case len(paths) > 0:
		j.destroys("git-discard", names("takes back the changes of", paths))
	case c.has("-f", "--force"):
		j.destroys("git-discard", "drops the changes that are not committed")
	}
}

// dashes is where "--" stands, or -1.
func dashes(c *command) int {
	for i, w := range c.words {
		if w.text == "--" {
			return i
		}
	}
	return -1
}

// isPath reports that a word is a path and not a branch: it has an ending, or
// dots and slashes as branches have not.
func isPath(s string) bool {
	ext := path.Ext(s)
	return s == "." || s == ".." || strings.HasPrefix(s, "./") || strings.HasPrefix(s, "../") || strings.HasSuffix(s, "/") ||
		strings.ContainsAny(s, "*") || len(ext) > 1 && len(ext) < 6 && letters(ext[1:])
}

func (j *judge) gitPush(c *command) {
	if c.has("-n", "--dry-run") {
		return
	}
	list := c.operands("-o --push-option --repo --receive-pack --exec")
	target := strings.Join(list, " ")
	if c.has("-f", "--force", "--force-with-lease", "--force-if-includes") {
		target = strings.TrimSpace(target + " (forced)")
	}
	if target == "" {
		target = "the default remote"
	}
	j.outside("push", target, c)
}
