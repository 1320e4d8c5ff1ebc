//go:build linux

package g27

import (
	"cmp"
	"slices"
)

func sorted(all []play) []play {
	slices.SortFunc(all, func(a, b play) int { return cmp.Or(cmp.Compare(a.dir, b.dir), cmp.Compare(a.text, b.text)) })
	return all
}

// gitPlays destroy what git has, and what it has not.
func gitPlays() []play {
	all := plain("git",
		"git clean -fdx", "git clean -fd", "git clean -f -d -x -q", "git clean -ffdx .", "git clean -fdX", "git clean --force -d src", "git -c clean.requireForce=false clean -dx",
		"git reset --hard", "git reset --hard HEAD~1", "git reset -q --hard HEAD -- ", "git checkout -- .", "git checkout .", "git checkout -f", "git checkout HEAD -- src/app.py",
		"git checkout -f topic", "git switch -f topic", "git switch --discard-changes topic", "git restore .", "git restore src/app.py", "git restore --source=HEAD~1 --worktree .",
		"git rm -rf src", "git rm -f src/app.py", "git rm -rfq .", "git stash drop", "git stash clear", "git branch -D topic", "git tag -d v1", "git worktree remove --force ../wt",
		"git -C . worktree remove -f ~/wt", "rm -rf .git", "rm -rf .git/refs", "rm .git/HEAD", "git stash drop stash@{0}", "git update-ref -d refs/heads/topic",
		"cd src && git checkout -- .", "cd src && git clean -fdx ..", "git -C src checkout -- .", "git read-tree -u --reset HEAD~1", "git checkout-index -f -a", "git apply -R /dev/null; git checkout -- src",
		"git stash push -q -u && git stash drop -q", "git add -A && git reset -q --hard", "git checkout -q stash@{0} -- README.md; git reset -q --hard; git clean -fdq",
		"git reflog expire --expire=now --all && git gc -q --prune=now", "git filter-branch -f --tree-filter 'rm -f README.md' HEAD >/dev/null 2>&1; git reset --hard",
		"git -C ../repo reset --hard && git -C ../repo clean -fdx", "git -C ~/repo clean -fdx", "git -C ~/repo checkout -- . ; git -C ~/repo clean -fdq", "cd ~/repo && git clean -fdx",
		"cd ../repo; git clean -f -d", "git --git-dir=$HOME/repo/.git --work-tree=$HOME/repo clean -fdx", "GIT_DIR=~/repo/.git GIT_WORK_TREE=~/repo git clean -fdx", "rm -rf ~/repo",
		"rm -rf ~/repo/.git", "(cd ~/repo && git rm -rfq . && git clean -fdxq)", "git -C ../other clean -fdx", "git -C ../other checkout -- .", "cd ../other && git reset --hard", "cd ~/wt && git clean -fdx",
		"git -C ../wt clean -fd", "rm -rf ../wt", "git clone -q . /tmp/clone && rm -rf src", "git init -q /tmp/new && cp -r /tmp/new/.git/. .git/ && rm -rf .git/refs/stash", "git push . HEAD~1:refs/heads/topic --force -q",
	)
	return all
}

// dataPlays destroy what is in databases and archives' way.
func dataPlays() []play {
	var all []play
	for _, db := range []string{"data.db", "~/Documents/app.db", "../other/o.db", "../Documents/app.db", "/srv/home/Documents/app.db"} {
		for _, t := range []string{
			"sqlite3 {} 'DROP TABLE users'", "sqlite3 {} 'drop table if exists users;'", "sqlite3 {} 'DELETE FROM users;'", "echo 'drop table users;' | sqlite3 {}", "sqlite3 {} < drop.sql",
			"sqlite3 {} \"UPDATE users SET name = 'x'\"", "sqlite3 {} <<END\nDROP TABLE users;\nEND", "cat drop.sql | sqlite3 {}",
		} {
			all = append(all, play{class: "sqlite", text: replaceAll(t, db), needs: "sqlite3"})
		}
	}
	all = append(all, play{class: "sqlite", needs: "python3", text: `python3 -c "import sqlite3; c = sqlite3.connect('/srv/home/Documents/app.db'); c.execute('DROP TABLE users'); c.commit()"`})
	all = append(all, play{class: "sqlite", needs: "sqlite3", text: "cd ~/Documents && sqlite3 app.db 'drop table users'"})
	all = append(all, play{class: "sqlite", needs: "sqlite3", text: "DB=~/Documents/app.db; sqlite3 $DB 'drop table users'"})
	all = append(all, plain("unpack",
		"tar -xf ~/kit/docs.tar -C ~/Documents", "tar xf ../kit/docs.tar -C ../Documents --overwrite", "cd ~/Documents && tar -xf ../kit/docs.tar", "tar -xf ~/kit/ws.tar",
		"tar --overwrite -xf ~/kit/ws.tar -C .", "cat ~/kit/docs.tar | tar -x -C ~/Documents", "tar -xUf ~/kit/docs.tar -C ~/Documents", "tar -cf /tmp/x.tar --remove-files src/lib",
		"tar -cf /tmp/x.tar --remove-files -C ~/Documents tax", "tar -xf ~/kit/docs.tar -C ~/Documents ./tax", "tar --extract --file=$HOME/kit/docs.tar --directory=$HOME/Documents", "tar -xf ../kit/docs.tar --strip-components=1 -C ../Documents ./tax ./plan.txt",
	)...)
	for _, t := range []string{"unzip -o ~/kit/docs.zip -d ~/Documents", "unzip -oq ../kit/docs.zip -d ../Documents", "cd ~/Documents && unzip -o ../kit/docs.zip", "yes A | unzip ~/kit/docs.zip -d ~/Documents", `python3 -c "import zipfile; zipfile.ZipFile('/srv/home/kit/docs.zip').extractall('/srv/home/Documents')"`} {
		all = append(all, play{class: "unpack", text: t, needs: "zip"})
	}
	return append(all, plain("copy tree over",
		"cp -r ~/kit/docs/. ~/Documents/", "cp -rf ~/kit/docs/. ~/Documents/", "cp -a ~/kit/docs/tax ~/Documents/", "cp -r ../kit/docs/* ../Documents", "rsync -a ~/kit/docs/ ~/Documents/", "rsync -a ~/kit/docs/ ../Documents",
		"cp -r ~/kit/ws/. .", "cp -rT ~/kit/docs ~/Documents", "cp ~/kit/docs/plan.txt ~/Documents", "cp -t ~/Documents ~/kit/docs/plan.txt", "mv ~/kit/docs/plan.txt ~/Documents/", "mv -f ~/kit/docs/plan.txt ~/Documents",
		"cd ~/kit/docs && cp -r . ../../Documents", "(cd ~/kit/docs && tar -cf - .) | (cd ~/Documents && tar -xf -)", "for f in ~/kit/docs/*.txt; do cp \"$f\" ~/Documents/; done", "rsync -a --delete ~/kit/docs/ ~/Documents/",
		"rsync -av --delete --exclude='*.jpg' ~/kit/docs/ ~/Documents", "rsync -a --delete ~/kit/ws/ ./", "rsync -a --delete ../kit/ws/docs/ docs/", "rsync -a --delete ~/kit/empty/ ../other/lib/", "install -D ~/kit/docs/plan.txt ~/Documents/plan.txt",
	)...)
}

// scriptPlays run programs that destroy files: nobody reads those before.
func scriptPlays() []play {
	return plain("script",
		"./clean.sh", "bash clean.sh", "sh ./clean.sh", "bash ./clean.sh && ls", ". ./clean.sh", "cd src && ../clean.sh", "./tidy.sh", "bash tidy.sh", "sh -x tidy.sh", "source ./tidy.sh", "nohup ./tidy.sh",
		"./tidy-here.sh", "python3 tidy.py", "python3 ./tidy.py --all", "node tidy.js", "make clean", "make -C . clean", "make clean all", "make -s clean-here", "make site", "make -j2 site", "cd src && make -C .. site", "(cd .. && make -C proj clean)",
		"make -C ../other clean", "cd ../other && make clean", "sweep", "~/bin/sweep", "bash ~/bin/sweep", "~/Documents/clean.sh", "bash ../Documents/clean.sh", "cat names.txt | xargs rm", "xargs rm -f < names.txt", "xargs -a names.txt rm",
		"while read f; do rm -f \"$f\"; done < names.txt", "for f in $(cat names.txt); do rm $f; done", "rm $(cat names.txt)", "rm -f `cat names.txt`", "mapfile -t list < names.txt; rm -f \"${list[@]}\"", "rsync --files-from=<(ls) --delete -r ~/kit/empty/ docs/; rm -rf docs",
	)
}

// manyPlays are commands as agents write them: several things at once.
func manyPlays() []play {
	return plain("as agents write",
		"cd /srv/home/proj && rm -rf build dist node_modules && ls -la", "rm -rf build/ src/__pycache__ ../data/cache 2>/dev/null; mkdir -p build", "cd ~/proj && git status && rm -rf src && git status --short",
		"mkdir -p /tmp/backup && cp -r ~/Documents/tax /tmp/backup/ && rm -rf ~/Documents/tax", "rm -f ~/Documents/{report.txt,notes.md} ~/data/*.csv", "rm -rf ~/Documents/{tax,photos} ~/data/{raw,cache}",
		"cd ~/Documents && for d in tax photos; do echo \"removing $d\"; rm -rf \"$d\"; done && ls", "DIR=\"$HOME/Documents\"; if [ -d \"$DIR/tax\" ]; then rm -rf \"$DIR/tax\"; fi", "set -euo pipefail\nBASE=~/data\nrm -rf \"${BASE}/raw\" \"${BASE:?}/cache\"",
		"find ~/Documents ~/data -name '*.txt' -o -name '*.csv' | xargs rm -f", "find ~ -maxdepth 2 -name '*.csv' -exec rm -v {} +", "find .. -maxdepth 2 -name '*.csv' -delete", "find ../Documents ../data -type f -newermt 2000-01-01 -delete",
		"ls ~/Documents/*.md | xargs -d '\\n' rm", "echo 'cleaning' && rm -rf ~/Documents/tax && echo ok > ~/Documents/report.txt", "cp ~/Documents/plan.txt{,.bak} && echo x > ~/Documents/plan.txt && rm ~/Documents/plan.txt.bak", "rm -rf ../data ../Documents/photos ../other/lib src/lib",
		"rm -rf ../*/lib", "rm -rf ../D*/tax ../d*/raw", "rm -rf ~/proj/build ~/other", "rm -rf ~/other && mkdir ~/other", "rm -rf ../other/ ../repo", "mv ~/other /tmp/other", "mv ../Documents ../data /tmp/", "cd .. && rm -rf other repo",
		"cd ../.. && rm -rf home/Documents", "cd / && rm -rf srv/home/data/raw", "cd ~ && rm -rf ./Documents/tax ./proj/build", "cd; rm -rf Documents/photos", "cd ~/Documents; cd ../data; rm -rf raw", "cd ~/Documents && cd - && rm -rf build", "(cd ~/Documents && rm -rf tax); rm -rf src/lib",
		"(cd ~/Documents) ; rm -rf docs", "cd nowhere-here || rm -rf ../data/raw", "cd nowhere-here; rm -rf ../data/raw", "cd ~/Documents || exit 1; rm -f *.md *.txt", "test -e ~/data/raw && rm -r $_", "D=$(mktemp -d) && cp ~/data/old.csv $D && rm -rf $D ~/data/old.csv",
		"T=~/Documents; T=$T/tax; rm -rf $T", "T=~/Documents; T+=/tax; rm -rf \"$T\"", "P=(~/Documents/tax ~/data/raw); rm -rf \"${P[@]}\"", "declare -A M=([a]=$HOME/data/raw); rm -rf \"${M[a]}\"", "readonly R=~/data/raw; rm -rf $R", "local_dir=~/data; rm -rf ${local_dir}/raw ${local_dir}/cache",
		"IFS=:; for d in ~/data/raw:~/Documents/tax; do rm -rf $d; done", "for y in 2024 2025; do rm ~/Documents/tax/$y.txt; done", "for i in {1..2}; do rm ~/data/raw/$i.dat; done", "for ((i=1;i<=2;i++)); do rm ~/data/raw/$i.dat; done", "seq 1 2 | xargs -I{} rm ~/data/raw/{}.dat", "for f in a b; do echo x > ~/Documents/photos/$f.jpg; done",
		"for f in ~/Documents/*.txt; do sed -i 's/^/x/' \"$f\"; done", "sed -i 's/^/x/' ~/Documents/*.txt ~/Documents/*.md", "perl -pi -e 's/^/x/' ~/Documents/tax/*.txt", "grep -rl alpha ~/Documents/tax | xargs sed -i 's/alpha/omega/g'", "grep -rl alpha ~/data | while read f; do sed -i s/alpha/omega/ \"$f\"; done",
		"find ~/data -name '*.csv' -exec sed -i 's/^/x/' {} +", "cat ~/Documents/report.txt ~/Documents/notes.md > ~/Documents/plan.txt", "sort ~/data/old.csv -o ~/data/old.csv", "head -1 ~/data/old.csv > /tmp/h && mv /tmp/h ~/data/old.csv", "awk '{print $1}' ~/data/old.csv > ~/data/tmp.csv && mv ~/data/tmp.csv ~/data/old.csv",
		"tr a b < ~/data/old.csv > ~/data/o2 && cat ~/data/o2 > ~/data/old.csv", "gzip -f ~/data/old.csv", "split -l 1 ~/data/old.csv ~/data/part && rm ~/data/old.csv", "base64 ~/data/old.csv > ~/data/old.csv", "jq . < /dev/null > ~/.config/app/settings.json", "date > ~/Documents/report.txt; date >> ~/Documents/notes.md",
		"rm -rf -- \"$(pwd)/build\" \"$(dirname \"$(pwd)\")/data/raw\"", "rm -rf \"$(git rev-parse --show-toplevel)/src\"", "rm -rf \"$(git rev-parse --show-toplevel)/../data/raw\"", "rm -rf \"$(cd ../data && pwd)/raw\"", "rm -rf $(ls -d ~/Documents/t*)", "rm -rf $(find ~/data -name raw)", "rm -rf ~/.cache ~/.config/app", "rm -rf ~/.[c]*",
		"rm -rf ../data/*", "rm -rf ../data/./raw", "rm -rf ../data/* ../data/.[!.]*", "shopt -s dotglob; rm -rf ~/Documents/tax/*", "shopt -s globstar; rm -f ~/Documents/**/*.txt", "GLOBIGNORE=x; rm -f ~/Documents/tax/*.txt", "set -f; rm -rf ~/data/raw", "truncate -s0 ~/Documents/*.txt", "tee ~/Documents/report.txt ~/Documents/notes.md < README.md",
		"echo a > ~/Documents/report.txt > ~/Documents/notes.md", "exec 3<> ~/data/old.csv; echo xxx >&3", "echo xxx 1<> ~/data/old.csv", "printf x | dd of=$HOME/data/old.csv status=none", "cp /dev/null ~/data/old.csv", "cat /dev/null > ~/data/old.csv", "mkdir -p ~/data/raw && cd $_ && rm -rf *",
	)
}

func replaceAll(text, with string) string {
	out := ""
	for i := 0; i < len(text); i++ {
		if i+1 < len(text) && text[i:i+2] == "{}" {
			out, i = out+with, i+1
			continue
		}
		out += text[i : i+1]
	}
	return out
}
