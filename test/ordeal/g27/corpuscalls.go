//go:build linux

package g27

// toolPlays are tools of the agent that write files: the text is what the tool does.
func toolPlays() []play {
	var all []play
	for _, path := range []string{
		"/srv/home/Documents/report.txt", "/srv/home/data/values.csv", "/srv/home/other/edit.txt", "/srv/home/.profile", "/tmp/stuff/a.txt", "/srv/home/Documents/my files/one two.txt",
		"/srv/home/proj/docs/a.md", "/srv/home/links/docs/plan.txt", "/srv/home/Documents/to-file", "/srv/home/proj/out/report.txt", "/srv/home/proj/../Documents/notes.md", "/srv/home/Documents/odd/quo'te.txt", "/srv/home/Documents/odd/star*.txt",
	} {
		write := "printf new > " + quoted(path)
		all = append(all,
			play{class: "file tool", tool: "Write", input: map[string]any{"file_path": path, "content": "new"}, text: write},
			play{class: "file tool", tool: "Edit", input: map[string]any{"file_path": path, "old_string": "alpha", "new_string": "omega"}, text: "perl -pe 's/alpha/omega/' " + quoted(path) + " > /tmp/edited; cat /tmp/edited > " + quoted(path)},
			play{class: "file tool", tool: "MultiEdit", input: map[string]any{"file_path": path, "edits": []map[string]any{{"old_string": "a", "new_string": "b"}}}, text: write},
		)
	}
	return append(all,
		play{class: "file tool", tool: "NotebookEdit", input: map[string]any{"notebook_path": "/srv/home/Documents/plan.txt", "new_source": "1"}, text: "printf new > /srv/home/Documents/plan.txt"},
		play{class: "file tool", tool: "Write", input: map[string]any{"file_path": "../Documents/plan.txt", "content": "new"}, text: "printf new > ../Documents/plan.txt"},
		play{class: "file tool", tool: "Write", input: map[string]any{"file_path": "~/Documents/plan.txt", "content": "new"}, text: "printf new > ~/Documents/plan.txt"},
	)
}

// mcpPlays are tools of other servers.
func mcpPlays() []play {
	var all []play
	for _, path := range []string{"/srv/home/Documents/report.txt", "/srv/home/data/values.csv", "/srv/home/other/edit.txt", "/srv/home/proj/src/app.py", "/tmp/stuff/a.txt", "/srv/home/Documents/my files/three.txt"} {
		rest := path
		if rest == "/srv/home/proj/src/app.py" { // an edit in the workspace: the checkpoint from before the turn has it
			rest = "/srv/home/proj/docs/a.md"
		}
		remove, write := "rm -f "+quoted(path), "printf new > "+quoted(rest)
		all = append(all,
			play{class: "mcp", tool: "mcp__fs__delete_file", input: map[string]any{"path": path}, text: remove},
			play{class: "mcp", tool: "mcp__filesystem__remove_file", input: map[string]any{"file_path": path}, text: remove},
			play{class: "mcp", tool: "mcp__fs__write_file", input: map[string]any{"path": rest, "content": "new"}, text: write},
			play{class: "mcp", tool: "mcp__fs__edit_file", input: map[string]any{"path": rest, "edits": []any{}}, text: write},
			play{class: "mcp", tool: "mcp__fs__move_file", input: map[string]any{"source": path, "destination": "/tmp/moved"}, text: "mv " + quoted(path) + " /tmp/moved"},
			play{class: "mcp", tool: "mcp__desktop__delete_files", input: map[string]any{"paths": []string{path}}, text: remove},
		)
	}
	return append(all,
		play{class: "mcp", tool: "mcp__fs__move_file", input: map[string]any{"source": "/srv/home/kit/docs/plan.txt", "destination": "/srv/home/Documents/plan.txt"}, text: "mv ~/kit/docs/plan.txt ~/Documents/plan.txt"},
		play{class: "mcp", tool: "mcp__fs__delete_directory", input: map[string]any{"path": "/srv/home/Documents/tax", "recursive": true}, text: "rm -rf ~/Documents/tax"},
		play{class: "mcp", tool: "mcp__fs__delete_directory", input: map[string]any{"path": "../Documents/tax"}, text: "rm -rf ../Documents/tax"},
		play{class: "mcp", tool: "mcp__shell__execute_command", input: map[string]any{"command": "rm -rf ~/Documents/tax"}, text: "rm -rf ~/Documents/tax"},
		play{class: "mcp", tool: "mcp__shell__run", input: map[string]any{"cmd": "rm -rf src"}, text: "rm -rf src"},
		play{class: "mcp", tool: "mcp__fs__delete_file", input: map[string]any{"uri": "file:///srv/home/Documents/plan.txt"}, text: "rm ~/Documents/plan.txt"},
		play{class: "mcp", tool: "mcp__fs__delete_file", input: map[string]any{"filename": "plan.txt", "folder": "/srv/home/Documents"}, text: "rm ~/Documents/plan.txt"},
	)
}

// harmlessPlays destroy nothing: nothing is saved for them, and their hooks are quick.
func harmlessPlays() []play {
	all := plain("harmless",
		"ls -la", "ls ~/Documents", "cat README.md", "cat ~/Documents/report.txt", "head -n 1 ~/data/values.csv | cut -d, -f1", "grep -rn alpha src", "grep -rn alpha ~/Documents", "find . -name '*.py'", "find ~ -name '*.txt' | wc -l", "git status", "git log --oneline -n 3", "git diff",
		"git show HEAD", "git branch -a", "git stash list", "git -C ~/repo log --oneline", "wc -l src/*.py", "pwd", "echo hello", "echo 'rm -rf ~/Documents'", "printf '%s\\n' \"rm -rf /srv/home/data\"", "echo rm -rf ~ | cat", "# rm -rf ~/Documents\ntrue", "grep 'rm -rf' clean.sh", "cat clean.sh", "cat <<'END'\nrm -rf ~/Documents\nEND",
		"env | sort | head -n 3", "which bash", "date", "mkdir -p build/new", "touch src/fresh.py", "echo x > src/brand-new.txt", "echo x > ~/Documents/brand-new.txt", "echo more >> ~/Documents/notes.md", "echo more | tee -a ~/Documents/notes.md", "cp README.md build/copy.md", "cp ~/Documents/plan.txt ~/Documents/plan-copy.txt", "mv docs/a.md docs/renamed.md",
		"mkdir ~/Documents/new-dir", "ln -s report.txt ~/Documents/fresh-link", "chmod 600 src/app.py", "stat ~/Documents/report.txt", "du -sh ~/Documents", "tar -cf /tmp/all.tar src", "tar -tf ~/kit/docs.tar", "zip -q /tmp/all.zip README.md || true", "rsync -an --delete ~/kit/empty/ ~/Documents/", "git clean -ndx", "git add -A", "make -n clean", "make all",
		"python3 -c 'print(1 + 1)'", "python3 --version", "node -e 'console.log(1)'", "sqlite3 ~/Documents/app.db 'select * from users'", "sqlite3 data.db .schema", "diff README.md docs/a.md", "sort data.db | head -c 1 > /dev/null", "for f in src/*.py; do echo \"$f\"; done", "test -f README.md && echo yes", "rm --help", "sleep 0.1", "true", "cd src && ls", "cd ~/Documents && ls", "(cd ~/data && cat values.csv) | head -n 2",
		"ls > /dev/null", "ls 2>/dev/null", "ls > /dev/null 2>&1", "git status > /dev/null", "cat ~/Documents/report.txt > /dev/null", "echo x | tee /dev/null", "sed -n 1p ~/Documents/report.txt", "sed s/a/b/ ~/Documents/report.txt", "awk '{print $1}' ~/data/values.csv", "perl -ne 'print' README.md", "xargs echo < names.txt", "find ~/Documents -type f -exec cat {} + | wc -c", "find . -name '*.pyc' -print0 | xargs -0 ls -l", "rmdir ~/kit/empty", "npm --version || true", "rm -f does-not-exist",
		"rm -rf ~/Documents/does-not-exist", "find ~/Documents -name 'no-such-*' -print",
	)
	for i := range all {
		all[i].harmless = true
	}
	return append(all,
		play{class: "harmless", harmless: true, tool: "Read", input: map[string]any{"file_path": "/srv/home/Documents/report.txt"}, text: "cat ~/Documents/report.txt"},
		play{class: "harmless", harmless: true, tool: "Grep", input: map[string]any{"pattern": "x", "path": "/srv/home"}, text: "true"},
		play{class: "harmless", harmless: true, tool: "Write", input: map[string]any{"file_path": "/srv/home/Documents/new-by-tool.txt", "content": "x"}, text: "printf x > ~/Documents/new-by-tool.txt"},
		play{class: "harmless", harmless: true, tool: "mcp__fs__read_file", input: map[string]any{"path": "/srv/home/Documents/report.txt"}, text: "true"},
		play{class: "harmless", harmless: true, tool: "mcp__fs__list_directory", input: map[string]any{"path": "/srv/home"}, text: "true"},
	)
}

// homePlays delete most of what there is.
func homePlays() []play {
	return plain("home",
		"find ~ -name '*.txt' -delete", "find ~ -type f -name '*.dat' -exec rm {} +", "rm -rf ~/.config ~/.profile ~/todo.txt", "cd ~ && rm -rf Documents data", "rm -rf ~/Documents ~/data ~/repo ~/wt", "rm -rf ~/[a-n]*", "rm -rf ../[!p]*", "find ~ -mindepth 1 -maxdepth 1 ! -name proj -exec rm -rf {} +",
		"rm -rf ~/proj/* ~/proj/.[!.]*", "rm -rf ./* .git", "rm -rf ../proj", "rm -rf \"$PWD\"", "rm -rf $(pwd)/", "rm -rf ~/*", "cd; rm -rf *", "rm -rf ~", "rm -rf $HOME/", "rm -rf /srv/home/*", "find ~ -type f -delete", "find ~ -delete", "rm -rf /tmp/stuff ~/Documents", "rm -rf /tmp/*", "rm -rf ~ /tmp/stuff", `python3 -c "import shutil, os; shutil.rmtree(os.path.expanduser('~'), ignore_errors=True)"`,
		"mv ~/Documents ~/data ~/todo.txt /tmp/", "rsync -a --delete ~/kit/empty/ ~/", "cd .. && rm -rf -- *", "rm -rf ~/{Documents,data,repo,other}", "for d in ~/*/; do rm -rf \"$d\"; done",
	)
}
