package risk_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
)

// targetCase is a command, and what it destroys: targets are separated by ";", their paths by "|". A
// target that nobody can name is "?". G: patterns, F: links are followed.
type targetCase struct{ command, want string }

func formatTargets(j risk.Judgement) string {
	list, _ := j.Targets()
	all := make([]string, len(list))
	for i, t := range list {
		mark := ""
		if t.Glob {
			mark += "G"
		}
		if t.Follow {
			mark += "F"
		}
		if mark != "" {
			mark += ":"
		}
		if all[i] = mark + strings.Join(t.Paths, " | "); len(t.Paths) == 0 {
			all[i] = "?"
		}
	}
	return strings.Join(all, " ; ")
}

var deletionCases = []targetCase{
	{"rm a", "a"},
	{"rm -rf dist node_modules", "dist ; node_modules"},
	{"rm -rf ./out/", "F:out"},
	{"rm -rf ../sibling", "../sibling"},
	{"rm -rf /srv/data", "/srv/data"},
	{"rm -rf /srv//data/../x", "/srv/x | /srv//data/../x"},
	{"rm -- -x", "-x"},
	{"rm -rf .", "."},
	{"rm -rf /", "/"},
	{"rm -rf ~", "~"},
	{"rm --help", ""},
	{"rm -f", ""},
	{"unlink a", "a"},
	{"shred -u -n 3 key", "key ; F:key"},
	{"trash-put old", "old"},
	{"npx rimraf dist", "dist"},
	{"\\rm -rf x", "x"},
	{"/bin/rm x", "x"},
	{"rm a; rm a", "a"},
	{"rm a; rm b", "a ; b"},

	// quotes
	{"rm 'a b'", "a b"},
	{`rm "a b"`, "a b"},
	{`rm a\ b`, "a b"},
	{`rm 'a'"b"c`, "abc"},
	{`rm "it's"`, "it's"},
	{`rm 'a"b'`, `a"b`},
	{`rm "a\"b"`, `a"b`},
	{`rm "a\b"`, `a\b`},
	{`rm $'a\tb'`, "a\tb"},
	{`rm $'it\'s'`, "it's"},
	{`rm $'\x61\u00e9'`, "aé"},
	{`rm $'a\0b'`, "?"},
	{`rm $"a b"`, "a b"},
	{`rm "über alles.txt"`, "über alles.txt"},
	{"rm a\\\nb", "ab"},
	{`rm '$HOME/x'`, "$HOME/x"},
	{`rm \$HOME/x`, "$HOME/x"},
	{`rm "~/x"`, "./~/x"},
	{`rm \~/x`, "./~/x"},
	{`rm '~'`, "./~"},
	{`rm ./~`, "./~"},
	{`rm 'a*b'`, "a*b"},
	{`rm a\*b`, "a*b"},
	{`rm ""`, ""},

	// patterns
	{"rm *.log", "G:*.log"},
	{"rm -rf /var/log/*.gz", "G:/var/log/*.gz"},
	{"rm build/**/x.o", "G:build/**/x.o"},
	{"rm a?c", "G:a?c"},
	{"rm [ab]c", "G:[ab]c"},
	{"rm [!ab]c", "G:[^ab]c"},
	{"rm [^ab]c", "G:[^ab]c"},
	{"rm [a-z]*", "G:[a-z]*"},
	{"rm [[:digit:]]*", "G:?*"},
	{"rm []a]x", "G:?x"},
	{"rm [a", "[a"},
	{"rm a]", "a]"},
	{`rm "a*"*`, `G:a\**`},
	{`rm "a["*`, `G:a\[*`},
	{"rm !(keep)", "G:*"},
	{"rm @(a|b).txt", "G:*.txt"},
	{"rm *", "G:*"},
	{"rm ~/*", "G:~/*"},

	// braces
	{"rm a{b,c}", "ab ; ac"},
	{"rm {a,b}/{c,d}", "a/c ; a/d ; b/c ; b/d"},
	{"rm a{b,c{d,e}}f", "abf ; acdf ; acef"},
	{"rm f{1..3}", "f1 ; f2 ; f3"},
	{"rm f{3..1}", "f3 ; f2 ; f1"},
	{"rm f{08..10}", "f08 ; f09 ; f10"},
	{"rm f{1..9..4}", "f1 ; f5 ; f9"},
	{"rm {a..c}", "a ; b ; c"},
	{"rm a{,.bak}", "a ; a.bak"},
	{"rm {a}", "{a}"},
	{"rm a{b", "a{b"},
	{"rm a,b", "a,b"},
	{"rm '{a,b}'", "{a,b}"},
	{`rm {"a b",c}`, "a b ; c"},
	{"rm ~/{a,b}", "~/a ; ~/b"},
	{"rm $HOME/{a,b}", "~/a ; ~/b"},
	{"rm {*.o,*.a}", "G:*.o ; G:*.a"},
	{"rm {1..1000}", "?"},

	// the home directory
	{"rm ~/x", "~/x"},
	{"rm $HOME/x", "~/x"},
	{"rm ${HOME}/x", "~/x"},
	{`rm "$HOME/a b"`, "~/a b"},
	{`rm "${HOME}"/x`, "~/x"},
	{`rm "${HOME:?}/x"`, "~/x"},
	{"rm $HOME", "~"},
	{"rm ~/../x", "~/../x"},
	{"rm ~/a/../x", "~/x | ~/a/../x"},
	{"rm ~bob/x", "?"},
	{"rm ~-/x", "?"},
	{"rm ~+/x", "x"},
	{"rm $HOMEX/x", "?"},
	{"rm ${HOME}x", "?"},
	{"rm x$HOME", "?"},
	{`rm ~"/x"`, "./~/x"},
	{"HOME=/h; rm ~/x $HOME/y", "/h/x ; /h/y"},
	{"D=~/d; rm $D/x", "~/d/x"},
	{`D="~/d"; rm $D/x`, "./~/d/x"},
	{"sudo bash -c 'rm ~/x'", "?"},
	{"su bob -c 'rm ~/x /y'", "? ; /y"},
	{"sudo rm ~/x", "~/x"},

	// variables
	{"rm $DIR", "?"},
	{`rm "$DIR"/x`, "?"},
	{"rm ${DIR:-build}", "?"},
	{"rm ${DIR%/}", "?"},
	{"rm $1 $@", "? ; ?"},
	{"rm $(ls)", "?"},
	{"rm `ls`", "?"},
	{"rm a$((1+2))", "?"},
	{"D=build; rm -rf $D", "build"},
	{"D=build; rm -rf ${D}/x ${D:?}/y ${D:-z}/w", "build/x ; build/y ; build/w"},
	{`D='a b'; rm $D`, "a ; b"},
	{`D='a b'; rm "$D"`, "a b"},
	{"P='*.log'; rm $P", "G:*.log"},
	{`P='*.log'; rm "$P"`, "*.log"},
	{"P=*.log; rm $P", "G:*.log"},
	{"D=a; D=$(pick); rm $D", "?"},
	{"D=a; read D; rm $D", "?"},
	{"D=a; unset D; rm $D", "?"},
	{"D=a; D+=b; rm $D", "?"},
	{"D=a true; rm $D", "?"},
	{"export D=a; rm $D", "a"},
	{"A=/srv; B=$A/x; rm $B", "/srv/x"},
	{"D=; rm -rf $D/*", "G:/*"},
	{"for f in a b; do rm $f.txt; done", "a.txt ; b.txt"},
	{`for f in *.bak; do rm "$f"; done`, "G:*.bak"},
	{"for f in $(ls); do rm $f; done", "?"},
	{"while read f; do rm $f; done", "?"},
	{`L=(a "b c"); rm "${L[@]}"`, "a ; b c"},
	{`L=(a b); rm ${L[0]}`, "?"},
	{`t=$(mktemp -d); rm -rf "$t"`, ""},
	{"rm $PWD/x", "x"},
	{`rm "$(pwd)/x"`, "x"},
	{"R=$(pwd); cd sub; rm $R/x", "x"},
	{"R=$PWD; cd /y; rm $R/x", "x"},

	// cd
	{"cd web && rm -rf .next", "web/.next | .next"},
	{"cd web; cd src; rm x", "web/src/x | x | web/x"},
	{"cd web && rm a && cd .. && rm b", "web/a | a ; b | web/b"},
	{"cd /srv && rm x", "/srv/x | x"},
	{"cd; rm x", "~/x | x"},
	{"cd ~ && rm x", "~/x | x"},
	{"cd ~/p && rm ../x", "~/x | ../x"},
	{"cd ~ && rm ../x", "~/../x | ../x"},
	{"cd $HOME/p; rm *.o", "G:~/p/*.o | *.o"},
	{"cd 'a[1]'; rm *", `G:a\[1]/* | *`},
	{"cd $DIR; rm x", "?"},
	{"cd $DIR; rm /x ~/y", "/x ; ~/y"},
	{"cd $DIR; cd /srv; rm x", "/srv/x | x"},
	{"cd */; rm x", "?"},
	{"cd a; cd -; rm x", "x | a/x"},
	{"cd -; rm x", "?"},
	{"pushd a; rm x; popd; rm y", "a/x | x ; y | a/y"},
	{"(cd pkg && rm -rf vendor); rm x", "pkg/vendor | vendor ; x"},
	{"(cd $DIR; true); rm x", "x"},
	{"y=$(cd z; pwd); rm x", "x"},
	{"bash -c 'cd a; rm x'; rm y", "a/x | x ; y"},
	{"eval 'cd a'; rm x", "a/x | x"},
	{"cd a\nrm x", "a/x | x"},
	{"{ cd a; rm x; }", "a/x | x"},
	{"if cd a; then rm x; fi", "a/x | x"},

	// programs that run others
	{"sudo rm -rf /var/lib/app", "/var/lib/app"},
	{"sudo -u bob env A=1 nice -n 5 rm x", "x"},
	{"env -C /srv rm x", "/srv/x"},
	{"nohup time rm x &", "x"},
	{"timeout 5 rm x", "x"},
	{"bash -c 'rm -rf build'", "build"},
	{`bash -c "rm -rf $HOME/x"`, "~/x"},
	{`bash -c "rm -rf '$DIR'"`, "$DIR"},
	{"echo 'rm -rf build' | sh", "build"},
	{"bash <<EOF\nrm -rf 'a b'\nEOF", "a b"},
	{"docker exec web rm -rf /app", "?"},
	{"docker run -v $PWD:/w alpine sh -c 'rm -rf /w/x'", "?"},
	{"chroot /mnt rm -rf /x", "?"},
	{"eval rm x", "x"},
	{"rm a | rm b && ! rm c", "a ; b ; c"},
	{"CMD='rm -rf'; $CMD a", "a"},
	{"if true; then rm a", "a"},
	{"if true; then rm '$x y", "? ; y"},
	{"if true; then rm ~/a", "~/a"},

	// found files
	{"find src -name '*.o' -delete", "src"},
	{"find -name '*.o' -delete", "."},
	{"parallel 'rm -rf ../x' ::: y", "../x"},
	{"find -L a 'b c' -type f -delete", "F:a ; ? ; F:b c ; ?"},
	{"find ~/x \\( -name a -o -name b \\) -delete", "~/x"},
	{"find $DIR -delete", "?"},
	{"find . -exec rm {} +", "."},
	{"find /srv/a -exec rm -rf {} \\;", "/srv/a"},
	{"find . -exec rm {}.bak \\;", "?"},
	{"find . -exec rm lock \\;", "lock"},
	{"find . -exec sh -c 'rm \"$1\"' _ {} \\;", "?"},
	{"find . -exec sh -c 'rm {}' \\;", "?"},
	{"find a -exec mv {} /tmp/x \\;", "a"},
	{"find a b -exec sed -i s/x/y/ {} +", "F:a ; F:b ; a ; b"},
	{"fd -e tmp . cache -x rm", "cache"},
	{"fd x -X rm -f {}", "."},
	{"xargs rm < list", "?"},
	{"xargs rm keep < list", "keep ; ?"},
	{"ls | xargs -I% rm -f d/%", "?"},
	{"ls | xargs -I F rm F", "?"},
	{"find d -print0 | xargs -0 rm", "d"},
	{"find d | grep -v x | head | xargs rm", "d"},
	{"sudo find /d | sudo xargs rm", "/d"},
	{"find d | sed s/a/b/ | xargs rm", "?"},
	{"find d | xargs -a other rm", "?"},
	{"find d | xargs -I{} mv {} /tmp/", "d"},
	{"parallel rm ::: a b", "a ; b"},
	{"ls | parallel rm {}", "?"},

	// git
	{"git rm -r old a.txt", "old ; a.txt"},
	{"git rm '*.o'", "."},
	{"git rm --cached x", ""},
	{"git worktree remove --force ../wt", "../wt"},
	{"git -C sub worktree remove -f ../wt", "wt"},
	{"git reset --hard", "."},
	{"git -C /srv/repo reset --hard HEAD~1", "/srv/repo"},
	{"git -C /srv -C repo clean -fd", "/srv/repo"},
	{"git --work-tree=/srv/x checkout -f", "/srv/x"},
	{"git -C $D reset --hard", "?"},
	{"cd a && git -C ../b clean -f", "b | ../b"},
	{"git clean -fd build tmp", "build ; tmp"},
	{"git clean -fd -e keep", "."},
	{"git checkout -- a b", "a ; b"},
	{"git checkout main -- a", "a"},
	{"git checkout src/app.ts", "src/app.ts"},
	{"git checkout -- :/", "."},
	{"git checkout -- '*.ts'", "."},
	{"git checkout -- *.ts", "G:*.ts"},
	{"git -C ../o restore a", "../o/a"},
	{"git restore .", "."},
	{"git switch -f main", "."},
	{"git stash drop", "."},
	{"git branch -D x", "."},
	{"git -C ~/p rebase main", "~/p"},
	{"git submodule deinit -f lib", "lib"},
	{"git merge --abort", "."},
}

var overwriteCases = []targetCase{
	{"echo a > b", "F:b"},
	{"echo a >| b", "F:b"},
	{"echo a &> b", "F:b"},
	{"echo a 2> b", "F:b"},
	{"> ~/x", "F:~/x"},
	{`echo a > "$HOME/x y"`, "F:~/x y"},
	{"echo a >> b", ""},
	{"echo a > /dev/null", ""},
	{"echo a > /tmp/x", ""},
	{"cat > a <<EOF\n> not\nEOF", "F:a"},
	{"(cd x; echo > a) > b", "F:b ; F:x/a | a"},
	{"make | tee log ../log2", "F:log ; F:../log2"},
	{"make | tee -a log", ""},
	{"truncate -s 0 a b", "F:a ; F:b"},
	{"dd if=/dev/zero of=a/b", "F:a/b"},
	{"dd of=~/x", "F:~/x"},
	{"dd of=$X", "?"},
	{"sort -o a b", "F:a"},
	{"sort --output=a b", "F:a"},
	{"cp -f a b", "F:b/a | b"},
	{"cp a b", "F:b/a | b"},
	{"cp a b/", "F:b/a"},
	{"cp x/a ~/b", "F:~/b/a | ~/b"},
	{"cp -T a b", "F:b"},
	{"cp a b c d", "F:d/a ; F:d/b ; F:d/c"},
	{"cp -t d a b", "F:d/a ; F:d/b"},
	{"cp --target-directory=d a", "F:d/a"},
	{"cp *.txt d", "GF:d/*.txt"},
	{"cp 'a*' [b]", `GF:[b]/a\* | [b]`},
	{"cp -r a b", "F:b/a | b ; F:b/a"},
	{"cp -r a/. b", "F:b"},
	{"cp -a /seed/. ./data/", "F:data"},
	{"cp $F d/", "F:d"},
	{"cp $F out.txt", "F:out.txt"},
	{"cp -n a b", ""},
	{"cp a /tmp/b", ""},
	{"cp a /tmp", ""},
	{"cp --help", ""},
	{"cp a $D", "?"},
	{"cp a{,.bak}", ""},
	{"mv a b", "b/a | b"},
	{"mv a b c/", "c/a ; c/b"},
	{"mv -f a b", "b/a | b"},
	{"mv a /tmp/x", "a"},
	{"mv a b /tmp", "a ; b"},
	{"mv -t /tmp a b", "a ; b"},
	{"mv a ~/b", "a ; ~/b/a | ~/b"},
	{"mv ~/a /dev/null", "~/a"},
	{"mv /tmp/a b", "b/a | b"},
	{`t=$(mktemp); mv -f "$t" p.json`, "p.json"},
	{`mv "$x" p.json`, "p.json"},
	{"ln -s a b", ""},
	{"ln -sf ../a b", "b/a | b"},
	{"ln -sfn a b", "b"},
	{"install -m 755 a /usr/local/bin/x", "/usr/local/bin/x/a | /usr/local/bin/x"},
	{"install -d a b", ""},
	{"rsync -a src/ dst/", "F:dst"},
	{"rsync -a src dst", "dst/src | dst ; dst/src"},
	{"rsync -a h:/x/src /srv/", "/srv/src"},
	{"rsync -a src/ host:/dst", ""},
	{"rsync -a --delete src/ dst/", "F:dst"},
	{"rsync -a --remove-source-files src/ dst/", "F:dst ; F:src"},
	{"scp h:/x/a.txt ~/d/", "F:~/d/a.txt"},
	{"scp a host:b", ""},
	{"sed -i s/a/b/ f", "F:f ; f"},
	{"sed -i.bak -E 's/a/b/' f g", "F:f ; F:g ; f ; g"},
	{"sed -i '' -e s/a/b/ f", "F:f ; f"},
	{"sed -ne s/a/b/ -i f", "F:f ; f"},
	{"sed -i -f script.sed f", "F:f ; f"},
	{"sed -i s/a/b/ src/*.js", "GF:src/*.js ; G:src/*.js"},
	{"sed -i s/a/b/ a b c d", "F:a ; F:b ; F:c ; F:d ; a ; b ; c ; d"},
	{"sed s/a/b/ f", ""},
	{"grep -l a . | xargs sed -i s/a/b/", "?"},
	{"perl -pi -e s/a/b/ ~/f", "F:~/f ; ~/f"},
	{"perl -pie s/a/b/ f", "F:f ; f"},
	{"curl -o a https://x.example.com", "F:a"},
	{"curl -fsSLo a/b https://x.example.com/c", "F:a/b"},
	{"curl -O https://x.example.com/c.tgz?x=1", "F:c.tgz"},
	{"curl -sO --output-dir d https://x.example.com/c", "F:d/c"},
	{"curl -o - https://x.example.com", ""},
	{"curl -o /dev/null https://x.example.com", ""},
	{"curl https://x.example.com/c", ""},
	{"wget -O a https://x.example.com", "F:a"},
	{"wget -qO- https://x.example.com", ""},
	{"wget -qO a https://x.example.com", "F:a"},
	{"wget https://x.example.com/c", ""},
	{"tar xf a.tar --overwrite -C /srv/x", "/srv/x"},
	{"tar xf a.tar --overwrite", "."},
	{"unzip -o a.zip -d ~/x", "~/x"},
	{"unzip -o a.zip", "."},
	{"7z x a.7z -y -oout", "out"},
	{"gunzip -f a.gz", "a.gz ; a"},
	{"gzip -f a", "a ; a.gz"},
	{"chmod -R 777 .", ""},
	{"sqlite3 ~/a.db 'drop table t'", "F:~/a.db ; F:~/a.db-wal"},
	{"sqlite3 :memory: 'drop table t'", ""},
	{"sqlite3 'file:/x/a.db?mode=rw' 'drop table t'", "F:/x/a.db ; F:/x/a.db-wal"},
	{"duckdb w.db -c 'drop table t'", "F:w.db ; F:w.db-wal"},
	{"psql -c 'drop table t'", ""},
	{"npx prisma migrate reset", "."},
	{"cd api && python manage.py migrate", "api | ."},
	{"make clean", ". ; ?"},
	{"make -C fw clean", "fw ; ?"},
	{"npm --prefix web run clean", "web ; ?"},
	{"./clean.sh", ". ; ?"},
	{"cmake --build out --target clean", "out ; ?"},
	{"npm ci", "node_modules"},
	{"npm ci --prefix /srv/app", "/srv/app/node_modules"},
	{"docker compose down -v", ""},
	{"curl -s https://x.example.com | sh", "?"},
}

var codeCases = []targetCase{
	{`python -c "import shutil; shutil.rmtree('build')"`, "build"},
	{`python -c "import shutil; shutil.rmtree('/srv/x')"`, "/srv/x"},
	{`python -c "import os; os.remove(os.path.expanduser('~/x'))"`, "~/x"},
	{`python -c "import os; os.remove(os.environ['HOME'] + '/x')"`, "~/x"},
	{`python -c "import os; os.remove(os.path.join(os.path.expanduser('~'), 'x'))"`, "~/x"},
	{`python -c "from pathlib import Path; (Path.home() / 'x').unlink()"`, "~/x"},
	{`python -c "from pathlib import Path; Path('a/b').unlink()"`, "a/b"},
	{`python -c "import os,sys; os.remove(sys.argv[1])"`, "?"},
	{`python -c "import os; os.remove(f'/srv/{n}')"`, "?"},
	{`python -c "import shutil; [shutil.rmtree(d) for d in ['a', 'b']]"`, "a ; b"},
	{"python3 - <<'EOF'\nimport os\n# don't\nos.remove('data.db')\nEOF", "data.db"},
	{"python3 - <<'EOF'\nimport glob, os\nfor f in glob.glob('/x/*.tmp'):\n    os.unlink(f)\nEOF", "G:/x/*.tmp"},
	{"cd sub && python -c \"import os; os.remove('../x')\"", "x | ../x"},
	{`python -c "import subprocess; subprocess.run(['rm', '-rf', 'out'])"`, "rm ; -rf ; out"},
	{`python -c "import os; os.system('rm -rf /srv/x y')"`, "/srv/x ; y"},
	{`node -e "require('fs').rmSync('dist',{recursive:true})"`, "dist"},
	{`node -e "const fs=require('fs');fs.unlinkSync(require('os').homedir()+'/x')"`, "~/x"},
	{"node -e 'fs.rmSync(`${os.homedir()}/x`)'", "~/x"},
	{"node -e 'fs.rmSync(`${dir}/x`)'", "?"},
	{`node -e "for (const d of ['a','b']) fs.rmSync(d)"`, "a ; b"},
	{`node -e "require('child_process').execSync('rm -rf a/b')"`, "a/b"},
	{`node -e "import('./lib/x').then(() => fs.rmSync('/srv/y'))"`, "/srv/y"},
	{`ruby -e 'FileUtils.rm_rf("tmp")'`, "tmp"},
	{`ruby -e 'FileUtils.rm_rf(Dir["p/*"])'`, "G:p/*"},
	{`ruby -e 'FileUtils.rm_rf(Dir.home + "/x")'`, "~/x"},
	{`perl -e 'unlink glob "*.o"'`, "G:*.o"},
	{`perl -e 'unlink "$ENV{HOME}/x"'`, "~/x"},
	{`awk 'BEGIN { system("rm -f x.txt") }'`, "x.txt"},
	{`pwsh -c "Remove-Item -Recurse build"`, "build"},
	{`php -r 'unlink("/srv/a");'`, "/srv/a"},
	{`python -c "print('rm -rf')"`, ""},
}

func TestTargetsOfCommands(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, c := range slices.Concat(deletionCases, overwriteCases, codeCases) {
		if seen[c.command] {
			t.Errorf("twice: %s", c.command)
		}
		seen[c.command] = true
		j := shell(c.command)
		if got := formatTargets(j); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.command, got, c.want)
		}
		if _, more := j.Targets(); more != strings.Contains(" "+c.want, " ?") {
			t.Errorf("%q: more is %v", c.command, more)
		}
	}
	if len(seen) < 150 {
		t.Errorf("only %d commands", len(seen))
	}
	t.Logf("%d commands", len(seen))
}

// Names are for people: as written, masked and short.
func TestTargetNames(t *testing.T) {
	t.Parallel()
	const token = "ghp_a8Kd93jfLs02mQpZx7Yt5Rw1Ev6Bn4Hu0cTg"
	for command, want := range map[string][]string{
		`rm -rf "$HOME/a b" $DIR/x`:     {"$HOME/a b", "$DIR/x"},
		"rm {a,b}":                      {"a", "b"},
		"rm ~/{a,b}":                    {"~/a", "~/b"},
		"make clean":                    {".", "what clean deletes"},
		"xargs rm":                      {"files listed when it runs"},
		"git -C api reset --hard":       {"api"},
		"rm " + token:                   {"[masked: github token]"},
		"rm " + strings.Repeat("é", 90): {strings.Repeat("é", 38) + "…"},
	} {
		list, _ := shell(command).Targets()
		var names []string
		for _, x := range list {
			names = append(names, x.Name)
		}
		if !slices.Equal(names, want) {
			t.Errorf("%s: %q, want %q", command, names, want)
		}
	}
}

func TestTargetsAreBounded(t *testing.T) {
	t.Parallel()
	many := "rm"
	for i := range 100 {
		many += fmt.Sprintf(" f%d", i)
	}
	for command, wantMore := range map[string]bool{
		many:                                     true,
		"rm {a..z}{1..9}":                        true,
		"rm {1..60}":                             false,
		strings.ReplaceAll(many, " f", "; rm f"): true,
		strings.ReplaceAll(many, " f", "; echo > f"):                  true,
		"rm " + strings.Repeat("x", 5000):                             true,
		strings.Repeat("true;", risk.MaxText):                         true,
		"for f in {1..9}; do for g in {1..9}; do rm $f$g; done; done": true,
	} {
		list, more := shell(command).Targets()
		if more != wantMore || len(list) > 64 {
			t.Errorf("%.40s: %d targets, more %v", command, len(list), more)
		}
	}
	// However many files a call may write over, what it deletes is seen.
	if got := shell(strings.ReplaceAll(many, " f", "; cp a f") + "; rm x"); !got.Destructive || got.Rule != "delete-files" {
		t.Errorf("%+v", got)
	}
}

func TestTargetsOfTools(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		call        retake.Call
		want        string
		destructive bool
	}{
		"write":         {retake.Call{Kind: retake.CallWrite, Tool: "Write", Paths: []string{"/o/a", "b", "~/c"}}, "F:/o/a ; F:b ; F:~/c", false},
		"patterns":      {retake.Call{Kind: retake.CallWrite, Tool: "Edit", Paths: []string{"a*[b]"}}, "F:a*[b]", false},
		"scratch":       {retake.Call{Kind: retake.CallWrite, Tool: "Write", Paths: []string{"/tmp/a"}}, "", false},
		"delete":        {retake.Call{Kind: retake.CallWrite, Tool: "delete_file", Paths: []string{"/o/a"}}, "/o/a", false},
		"new directory": {retake.Call{Kind: retake.CallWrite, Tool: "create_directory", Paths: []string{"/o/a"}}, "", false},
		"read":          {retake.Call{Kind: retake.CallRead, Tool: "Read", Paths: []string{"/o/a"}}, "", false},
		"other":         {retake.Call{Kind: retake.CallOther, Tool: "x", Command: "rm /o/a"}, "/o/a", true},
		"mcp path":      {mcpCall("delete_file", `{"path":"/o/a"}`), "/o/a", true},
		"mcp list":      {mcpCall("delete_files", `{"paths":["/o/a","b"],"force":true,"reason":"c/d"}`), "/o/a ; b", true},
		"mcp nested":    {mcpCall("remove_all", `{"items":[{"filePath":"a"},{"file_path":"~/b"}],"x":{"targetDir":"c"}}`), "a ; ~/b ; c", true},
		"mcp uri":       {mcpCall("delete_file", `{"uri":"file:///o/a%20b","source_url":"https://x.example.com/y"}`), "/o/a b", true},
		"mcp text":      {mcpCall("use_tool_delete", `{"arguments":"{\"path\":\"/o/a\"}"}`), "/o/a", true},
		"mcp none":      {mcpCall("delete_issue", `{"number":4}`), "", true},
		"mcp lines":     {mcpCall("delete_file", `{"path":"a\nb","file_content":"x"}`), "", true},
		"mcp cut off":   {mcpCall("delete_file", `{"path":"a","dest`), "a", true},
		"mcp no input":  {mcpCall("delete_file", ``), "", true},
		"mcp zero byte": {mcpCall("delete_file", `{"path":"a\u0000b"}`), "?", true},
		"mcp write":     {mcpCall("write_file", `{"path":"/o/a","content":"/x/y"}`), "/o/a", false},
		"mcp read":      {mcpCall("read_file", `{"path":"/o/a"}`), "", false},
	} {
		got := risk.Judge(c.call)
		if formatTargets(got) != c.want || got.Destructive != c.destructive {
			t.Errorf("%s: %s, destructive %v, want %s", name, formatTargets(got), got.Destructive, c.want)
		}
		if !c.destructive && got.MayDestroyOutside != (c.want != "") {
			t.Errorf("%s: may destroy outside: %v", name, got.MayDestroyOutside)
		}
	}
	j := risk.Judge(retake.Call{Kind: retake.CallWrite, Tool: "Write", Paths: []string{"/o/a"}})
	yes, no := func(string) bool { return true }, func(string) bool { return false }
	if got := j.WithoutMissing(yes, no); got.Why != "writes over /o/a" || got.Rule != "overwrite-files" {
		t.Errorf("%+v", got)
	}
	if got := j.WithoutMissing(no, no); got.Destructive || got.MayDestroyOutside {
		t.Errorf("%+v", got)
	}
}

func mcpCall(tool, input string) retake.Call {
	return retake.Call{Kind: retake.CallMCP, Server: "filesystem", Tool: tool, Input: json.RawMessage(input)}
}

// User rules have targets, too.
func TestTargetsOfUserPrograms(t *testing.T) {
	t.Parallel()
	r := parseUserRules(t, userFile)
	for command, want := range map[string]string{
		"rip a ~/b":    "a ; ~/b",
		"wipeout /x y": "/x ; y",
		"wipeout":      "?",
		"scrubdb":      "",
	} {
		if got := formatTargets(risk.JudgeWith(r, retake.Call{Kind: retake.CallShell, Command: command})); got != want {
			t.Errorf("%s: %s, want %s", command, got, want)
		}
	}
}
