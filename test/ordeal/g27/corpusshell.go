//go:build linux

package g27

import (
	"path/filepath"
	"strings"
)

// wrappers run a command C in another way. Q is the command as one quoted word, E the command with
// another level of quotes.
var wrappers = []string{
	"sudo -n {C}", "sudo {C}", "sudo -n -u root {C}", "env {C}", "env A=b {C}", "env -u LANG {C}", "env -S {Q}", "nohup {C} > /dev/null 2>&1", "timeout 5 {C}",
	"timeout -s KILL 5s {C}", "nice {C}", "nice -n 5 {C}", "ionice -c 3 {C}", "stdbuf -o0 {C}", "setsid -w {C}", "command {C}", "time {C}", "exec {C}",
	"LANG=C {C}", "sudo -n env A=b nice -n 3 timeout 9 {C}", "bash -c {Q}", "sh -c {Q}", "bash -lc {Q}", "bash -euo pipefail -c {Q}", "/bin/sh -c {D}",
	"bash -c {E}", "sh -c {F}", "eval {Q}", "eval {C}", "eval eval {C}", "X={Q}; eval \"$X\"", "X={Q}; $X", "X={Q}; bash -c \"$X\"",
	"bash <<'END'\n{C}\nEND", "bash -s <<END\n{C}\nEND", "sh <<< {Q}", "echo {Q} | bash", "printf '%s\\n' {Q} | sh", "bash <(echo {Q})", "source <(echo {Q})",
	"echo {Q} > /tmp/script.sh && bash /tmp/script.sh", "cat > /tmp/s2.sh <<'END'\n{C}\nEND\nchmod +x /tmp/s2.sh; /tmp/s2.sh", "{ {C}; }", "( {C} )", "((1)) && {C}",
	"true && {C}", "false || {C}", "! {C}", "{C} & wait", "( {C} ) & wait $!", "{C} | cat", "true | {C}", "{C} || true", "cd src; {A}", "if [ -d src ]; then {C}; fi",
	"if false; then :; else {C}; fi", "case x in x) {C};; esac", "while true; do {C}; break; done", "[ -n x ] && {C}", "[[ x == x ]] && {C}", "test 1 -eq 1 && {C}",
	"trap {Q} EXIT; true", "f() { {C}; }; f", "f() ( {C} ); f", "g() { f; }; f() { {C}; }; g", "x=$({C})", "echo \"$({C})\"", "echo `{C}`", "cat <({C})",
	"coproc { {C}; }; wait", "select x in a; do {C}; break; done <<< 1", "xargs -I{} sh -c {Q} <<< x", "find . -maxdepth 0 -exec {C} \\;", "find . -maxdepth 0 -exec sh -c {Q} \\;",
	"flock /tmp/lock {C}", "script -qec {Q} /dev/null", "git -c alias.x='!{C}' x", "make -f - <<'END'\nall:\n\t{C}\nEND", "python3 -c \"import os; os.system({P})\"",
	"python3 - <<'END'\nimport subprocess\nsubprocess.run({P}, shell=True)\nEND", "node -e \"require('child_process').execSync({P})\"", "perl -e 'system {P}'",
	"set -e; echo start\n{C}\necho done", "# tidy up\n{C} # for ever", "{C};", "  {C}  ", "echo a; {C}; echo b", "ls && {C} && ls", "\n\n{C}\n", "cd . && \\\n  {C}",
	"shopt -s expand_aliases\nalias zap={Q}\nzap", "builtin eval {Q}", "exec 5>&1; {C} >&5", "{C} 2>/dev/null", "{C} </dev/null", "{C} >/dev/null 2>&1", "TARGET=1 bash -c {Q}",
	"bash -c 'bash -c \"sh -c {C2}\"'", "chroot / {C}", "busybox sh -c {Q}", "parallel {Q} ::: x", "unshare -m {C}", "su -c {Q}", "runuser -u root -- {C}",
}

// wrapped plays commands in every wrapper: one elsewhere, one in the workspace, one of several words.
func wrapped() []play {
	var all []play
	for i, w := range wrappers {
		paths := []string{"/srv/home/Documents/tax", "/srv/home/proj/src", places[(i%4)+2].dir}
		for k, path := range paths[:2+i%2] {
			c := "rm -rf " + path
			two := c
			if i%3 == k%3 && !strings.Contains(w, "{C2}") && !strings.Contains(w, "alias.x") {
				c = "rm -rf " + path + " /nowhere/x"
				two = c
			}
			p := play{class: "wrapper", text: strings.NewReplacer(
				"{C}", c, "{Q}", quoted(c), "{D}", doubled(c), "{E}", quoted("bash -c "+quoted(c)), "{F}", doubled("bash -c "+doubled(c)),
				"{A}", c, "{P}", "'"+c+"'", "{C2}", `'\''`+two+`'\''`,
			).Replace(w)}
			if strings.Contains(w, "{P}") {
				p.text = strings.ReplaceAll(w, "{P}", pythonText(w, c))
			}
			p.needs = neededBy(w)
			all = append(all, p)
		}
	}
	return all
}

// pythonText is a command as text in a program, inside of the quotes that are around the program.
func pythonText(wrapper, c string) string {
	if strings.HasPrefix(wrapper, "perl") {
		return `"` + c + `"`
	}
	return "'" + c + "'"
}

func neededBy(wrapper string) string {
	for _, name := range []string{"python3", "node", "perl", "busybox", "parallel", "flock", "script", "ionice", "setsid", "stdbuf", "watch", "su", "runuser", "chroot"} {
		if strings.HasPrefix(wrapper, name+" ") {
			return name
		}
	}
	return ""
}

// oddlyNamed plays names that have to be quoted, in four ways of quoting.
func oddlyNamed() []play {
	quotings := []func(string) string{quoted, doubled, ansi, escaped}
	verbs := []string{"rm -f -- {W}", "echo new > {W}", "mv -- {W} /tmp/gone", "rm -rf {W}", "unlink {W}", "truncate -s 0 -- {W}", "cat README.md > {W}", "find {W} -delete"}
	var all []play
	for i, name := range oddNames {
		for k, quote := range quotings {
			dir := filepath.Join(homeDir, oddDirs[0])
			if (i+k)%4 == 3 {
				dir = filepath.Join(homeDir, oddDirs[1+i%2])
			}
			v := verbs[(i+3*k)%len(verbs)]
			word := quote(dir + "/" + name)
			if k == 3 || i%3 == 1 && k == 0 {
				word = inHome("~", dir) + "/" + quote(name)
			}
			all = append(all, play{class: "odd name", text: strings.ReplaceAll(v, "{W}", word)})
		}
		v := verbs[i%2]
		all = append(all, play{class: "odd name", text: "F=" + doubled(name) + "; D=~/Documents/odd; " + strings.ReplaceAll(v, "{W}", `"$D/$F"`)})
		all = append(all, play{class: "odd name", text: "cd ~/Documents/odd && " + strings.ReplaceAll(v, "{W}", "./"+quoted(name))})
	}
	return append(all, plain("odd name",
		"rm ~/Documents/odd/a\\ *", "rm ~/Documents/odd/*quo*", "rm -f ~/Documents/odd/*", "rm ~/Documents/odd/[a-d]*", "rm ~/Documents/odd/?ash*; rm ~/Documents/odd/??ash*",
		"rm ~/'Documents/my files'/*.txt", `rm -rf ~/"Documents/my files"`, `rm -rf ~/Documents/my\ files`, `rm -rf "$HOME/Documents/my files"`, "rm -rf ~/Documents/my*",
		"rm -rf $HOME/Documents/my\\ files/", "find ~/Documents -name '* *' -type f -delete", "find ~/Documents/odd -name '*.txt' -print0 | xargs -0 rm -f --",
		"for f in ~/Documents/odd/*.txt; do rm -f -- \"$f\"; done", "cd ~/Documents/odd; rm -f -- *", "cd ~/Documents/odd && rm -f ./-dash.txt ./--force",
		"rm -f ~/Documents/odd/bad*", "rm -f ~/Documents/odd/$'bad\\xff.txt'", "find ~/Documents/odd -name 'bad*' -delete", "echo new > ~/Documents/odd/$'bad\\xff.txt'",
		"rm -f odd/bad*", "rm -f ../other/odd/bad*", "rm -rf ~/Documents/odd", "rm -rf ../other/odd", "mv ~/Documents/odd /tmp/odd",
	)...)
}

// linked plays symbolic links: the link itself, and what is behind it.
func linked() []play {
	return plain("link",
		"rm ~/Documents/to-file", "rm ~/Documents/to-dir", "rm -rf ~/Documents/to-dir", "rm ~/Documents/dangling", "unlink ~/Documents/dangling",
		"rm -rf ~/Documents/to-dir/*", "rm -rf ~/Documents/to-dir/old", "rm ~/Documents/to-dir/2025.txt", "rm ~/Documents/tax/latest", "> ~/Documents/to-file",
		"echo new > ~/Documents/to-file", "echo new > ~/Documents/to-dir/2024.txt", "echo new > ~/Documents/to-dir/latest", "echo new | tee ~/Documents/to-file",
		"truncate -s 0 ~/Documents/to-file", "cp README.md ~/Documents/to-file", "cp -f README.md ~/Documents/to-file", "mv -f docs/a.md ~/Documents/to-file",
		"dd if=README.md of=../Documents/to-file status=none", "sed -i s/a/b/ ~/Documents/to-file", "ln -sfn /nowhere ~/Documents/to-dir", "ln -sfn /nowhere ~/Documents/dangling",
		"find ~/Documents/to-dir/ -type f -delete", "find -L ~/Documents/to-dir -type f -delete", "find ~/Documents -type l -delete", "find ~/Documents -xtype l -delete",
		"rm -rf out/tax", "rm -rf out/*", "rm -rf ./out/", "rm out", "echo new > out/report.txt", "cd out && rm -f report.txt", "cd out/tax && rm -rf *", "cd -P out && rm -f notes.md",
		"cd out && rm -rf ../data/raw", "cd -P out && rm -rf ../data/raw", "rm -rf out/../data/raw", "rm readme-link", "echo new > readme-link", "rm -f ~/links/docs/tax/2025.txt",
		"rm -rf ~/links/ws/src", "rm -rf ~/links/other/lib", "rm -rf ~/links/home/data/raw", "rm -rf ~/links/*", "rm -rf ~/links/*/", "rm -rf ~/links/docs/", "find ~/links/docs/ -name '*.md' -delete",
		"mv ~/Documents/to-file /tmp/", "cp --remove-destination README.md ~/Documents/to-file", "rsync -a --delete ~/kit/empty/ ~/links/data/raw/", "shred -u ~/Documents/to-file",
		`python3 -c "import os; os.remove('/srv/home/Documents/to-file')"`, `python3 -c "open('/srv/home/Documents/to-file','w')"`, `python3 -c "import shutil; shutil.rmtree('/srv/home/links/docs/tax')"`,
	)
}

// driftedPlays run where the agent's shell went, outside of the workspace that it works in.
func driftedPlays() []play {
	var all []play
	for dir, texts := range map[string][]string{
		"/srv/home/Documents": {"rm -rf tax", "echo new > report.txt", "rm ../proj/src/app.py", "./clean.sh", "rm -rf ./*"},
		"/srv/home":           {"rm -rf data/raw", "rm todo.txt", "rm -rf proj/src"},
		"/srv/home/other":     {"rm -rf lib", "rm edit.txt", "make clean", "git clean -fdx", "rm -rf ../Documents/tax"},
		"/srv/home/proj/src":  {"rm -rf ../build lib", "rm app.py", "git checkout -- .", "rm -rf ../../Documents/tax", "git clean -fdx .."},
		"/tmp/stuff":          {"rm -rf dir", "> a.txt"},
	} {
		for _, t := range texts {
			all = append(all, play{class: "cwd elsewhere", text: t, dir: dir})
		}
	}
	return sorted(all)
}
