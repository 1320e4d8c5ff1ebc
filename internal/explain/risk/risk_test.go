package risk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/explain/risk"
	"github.com/retake-dev/retake/internal/pure/secrets"
)

func shell(command string) risk.Judgement {
	return risk.Judge(retake.Call{Kind: retake.CallShell, Command: command})
}

// What a card shows.
func TestReasons(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][2]string{
		"rm -rf dist node_modules":                     {"delete-files", "deletes dist, node_modules"},
		"rm a b c d e":                                 {"delete-files", "deletes a, b, c and 2 more"},
		"find src -name '*.o' -delete":                 {"delete-files", "deletes what is found below src"},
		"ls | xargs rm":                                {"delete-files", "deletes files that are listed when it runs"},
		"git reset --hard HEAD~2":                      {"git-discard", "resets the files to HEAD~2"},
		"git checkout main -- a.go":                    {"git-discard", "takes back the changes of a.go"},
		"git branch -D old":                            {"git-refs", "deletes the branch old"},
		"jq . a > b.json":                              {"overwrite-files", "writes over b.json"},
		"mv src ~/old":                                 {"take-away", "moves away src"},
		"sqlite3 a.db 'drop table t'":                  {"sql-destroy", "runs DROP TABLE on a database"},
		"mysql -e 'delete from t'":                     {"sql-destroy", "runs DELETE without WHERE on a database"},
		"dropdb app":                                   {"sql-destroy", "runs on a database: dropdb"},
		"alembic upgrade head":                         {"migrate", "migrates a database: alembic upgrade"},
		"make clean":                                   {"clean", "cleans: clean"},
		"npm ci":                                       {"fresh-install", "deletes node_modules and installs again: npm ci"},
		"docker compose down -v":                       {"volumes", "deletes volumes of containers"},
		"chmod -R 755 bin":                             {"change-modes", "chmod of all below bin"},
		"rsync --delete a/ b/":                         {"sync-delete", "deletes what is not in the source, below b/"},
		`python -c "import shutil;shutil.rmtree('a')"`: {"code", "runs code that deletes files"},
	} {
		got := shell(command)
		if !got.Destructive || got.Rule != want[0] || got.Why != want[1] {
			t.Errorf("%s: %+v, want %v", command, got, want)
		}
	}
}

// Where an effect goes.
func TestTargets(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]risk.ExternalEffect{
		"git push origin auth-sessions": {Kind: "push", Target: "origin auth-sessions", Rule: "push"},
		"git push -f origin main":       {Kind: "push", Target: "origin main (forced)", Rule: "push"},
		"git push":                      {Kind: "push", Target: "the default remote", Rule: "push"},
		"npm publish":                   {Kind: "publish", Target: "npm publish", Rule: "publish"},
		"docker push r.example.com/a:1": {Kind: "publish", Target: "r.example.com/a:1", Rule: "publish"},
		"curl -XPOST https://u@api.example.com:8443/a/b?c":       {Kind: "http", Target: "api.example.com", Rule: "http"},
		"API=https://api.example.com; curl -d x $API/items":      {Kind: "http", Target: "api.example.com", Rule: "http"},
		"curl -d x \"$API/items\"":                               {Kind: "http", Target: "$API", Rule: "http"},
		"aws s3 sync dist s3://bucket/x":                         {Kind: "cloud", Target: "s3://bucket/x", Rule: "cloud"},
		"aws ec2 stop-instances --instance-ids i-1":              {Kind: "cloud", Target: "ec2 stop-instances", Rule: "cloud"},
		"kubectl -n prod delete pod web-1":                       {Kind: "infra", Target: "pod web-1 in prod", Rule: "infra"},
		"kubectl apply -f k8s/":                                  {Kind: "infra", Target: "k8s/", Rule: "infra"},
		"ssh -p 22 bob@web1 reboot":                              {Kind: "ssh", Target: "bob@web1", Rule: "ssh"},
		"scp a bob@web1:/b":                                      {Kind: "ssh", Target: "web1", Rule: "copy-to-host"},
		"psql postgres://db.example.com/a -c 'create table t()'": {Kind: "database", Target: "db.example.com", Rule: "database"},
		"gh api -X DELETE repos/o/r":                             {Kind: "forge", Target: "repos/o/r", Rule: "forge"},
		"mail -s hi bob@example.com":                             {Kind: "mail", Target: "bob@example.com", Rule: "mail"},
		"sudo systemctl stop nginx":                              {Kind: "machine", Target: "nginx", Rule: "machine"},
		"make deploy":                                            {Kind: "deploy", Target: "deploy", Rule: "named-deploy"},
	} {
		got := shell(command).Effects
		if len(got) != 1 {
			t.Errorf("%s: %d effects: %+v", command, len(got), got)
			continue
		}
		want.Text, want.DoneIfPassed, want.NotIfFailed = got[0].Text, true, true
		if d := cmp.Diff(want, got[0]); d != "" {
			t.Errorf("%s: %s", command, d)
		}
	}
}

// Each simple command is one effect, with its own text; equal ones are one.
func TestEffectsAreOnePerCommand(t *testing.T) {
	t.Parallel()
	got := shell("git push origin a && (git push origin b; git push origin b) | cat; x=$(npm publish)").Effects
	var texts []string
	for _, e := range got {
		texts = append(texts, e.Text)
	}
	want := []string{"git push origin a", "git push origin b", "npm publish"}
	if d := cmp.Diff(want, texts); d != "" {
		t.Error(d)
	}
}

// Secrets do not leave, also not cut in half or as a target.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	const token = "ghp_a8Kd93jfLs02mQpZx7Yt5Rw1Ev6Bn4Hu0cTg"
	for _, command := range []string{
		"curl -X POST -H 'Authorization: Bearer " + token + "' https://api.example.com",
		"curl -d x https://user:" + token + "@api.example.com/y",
		"TOKEN=" + token + " npm publish",
		"git push https://x:" + token + "@github.com/o/r main",
		"rm " + token,
		"echo " + strings.Repeat("a ", 90) + token + "; curl -d " + strings.Repeat("a", 180) + " " + token + " https://a.example.com",
		"psql postgres://u:" + token + "@db.example.com/a -c 'drop table t'",
	} {
		got := shell(command)
		if !got.Destructive && len(got.Effects) == 0 {
			t.Errorf("nothing found: %s", command)
		}
		for _, d := range got.Dangers {
			for i := range d.Targets {
				d.Targets[i].Paths = nil // a file is found by its whole name
			}
		}
		raw, err := json.Marshal(got)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(raw), token[4:14]) {
			t.Errorf("the token left: %s", raw)
		}
	}
}

func TestMCP(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	for name, c := range map[string]struct {
		call        retake.Call
		destructive bool
		target      string
	}{
		"marked destructive":     {retake.Call{Server: "db", Tool: "go", Destructive: &yes, OpenWorld: &no}, true, ""},
		"marked read-only":       {retake.Call{Server: "db", Tool: "delete_all", ReadOnly: &yes, Destructive: &yes, OpenWorld: &yes}, false, ""},
		"open and writing":       {retake.Call{Server: "chat", Tool: "go", Destructive: &no, OpenWorld: &yes}, false, "chat/go"},
		"closed and harmless":    {retake.Call{Server: "chat", Tool: "send", Destructive: &no, OpenWorld: &no}, false, ""},
		"no marks, creates":      {retake.Call{Server: "github", Tool: "create_issue"}, false, "github/create_issue"},
		"no marks, deletes":      {retake.Call{Server: "github", Tool: "deleteFile"}, true, "github/deleteFile"},
		"no marks, reads":        {retake.Call{Server: "mail", Tool: "list_deleted_messages"}, false, ""},
		"no marks, files":        {retake.Call{Server: "filesystem", Tool: "write_file"}, false, ""},
		"no marks, deletes here": {retake.Call{Server: "filesystem", Tool: "delete_file"}, true, ""},
		"name of the agent":      {retake.Call{Tool: "mcp__slack__post_message"}, false, "slack/post_message"},
		"nothing known":          {retake.Call{Server: "x", Tool: "frobnicate"}, false, ""},
	} {
		c.call.Kind = retake.CallMCP
		got := risk.Judge(c.call)
		target := ""
		if len(got.Effects) > 0 {
			target = got.Effects[0].Target
		}
		if got.Destructive != c.destructive || target != c.target {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// Reading and writing tools are no danger in the workspace, whatever their input says.
func TestOtherToolsAreNotJudged(t *testing.T) {
	t.Parallel()
	for _, kind := range []retake.CallKind{retake.CallWrite, retake.CallRead, "unheard-of"} {
		got := risk.Judge(retake.Call{Kind: kind, Tool: "Write", Command: "rm -rf /", Paths: []string{"a"}})
		if got.Destructive || got.Rule != "" || got.Why != "" || got.AllReasons() != "" || len(got.Effects) > 0 || got.MayDestroyOutside != (kind == retake.CallWrite) {
			t.Errorf("%s: %+v", kind, got)
		}
	}
}

// A text that is no shell is judged by its words.
func TestBrokenTextIsScanned(t *testing.T) {
	t.Parallel()
	for _, command := range []string{"if true; then rm -rf build", "rm -rf 'build", "echo $(rm -rf build", "((; rm -rf x", "case x in; git reset --hard"} {
		if got := shell(command); !got.Destructive {
			t.Errorf("%s: %+v", command, got)
		}
	}
	if got := shell("echo 'unclosed"); got.Destructive || len(got.Effects) > 0 {
		t.Errorf("broken and harmless: %+v", got)
	}
}

// Every rule that the code names is in the list, and every one listed is used.
func TestRulesAreComplete(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "programs.json")
	used := map[string]bool{}
	name := regexp.MustCompile(`(?:addDanger|addGitDanger|addEffect|addFinding|rulePhrase|ruleKind)\("([a-z-]+)"|Danger\{Rule: "([a-z-]+)"|"rule": "([a-z-]+)"`)
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		for _, line := range strings.Split(string(raw), "\n") {
			for _, m := range name.FindAllStringSubmatch(line, -1) {
				used[m[1]+m[2]+m[3]] = true
			}
		}
	}
	for _, r := range risk.Rules() {
		if !used[r.Name] {
			t.Errorf("no code for the rule %s", r.Name)
		}
		delete(used, r.Name)
		if r.Text == "" || r.Example == "" {
			t.Errorf("%s says nothing", r.Name)
		}
	}
	for n := range used {
		t.Errorf("the rule %s is not in the list", n)
	}
}

// The example of a rule is judged by that rule.
func TestExamplesAreTrue(t *testing.T) {
	t.Parallel()
	for _, r := range risk.Rules() {
		call := retake.Call{Kind: retake.CallShell, Command: r.Example}
		if server, tool, ok := strings.Cut(r.Example, "/"); ok && strings.HasPrefix(r.Name, "mcp") {
			call = retake.Call{Kind: retake.CallMCP, Server: server, Tool: tool}
		}
		if r.Name == "unread" {
			call.Command = strings.Repeat("true;", risk.MaxText)
		}
		got := risk.Judge(call)
		said := got.Rule == r.Name
		for _, e := range got.Effects {
			said = said || e.Rule == r.Name && e.Kind == r.Kind
		}
		if !said {
			t.Errorf("%s: %s is judged %+v", r.Name, r.Example, got)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, name := range []string{"commands.txt", "commands-holdout.txt"} {
		for _, l := range readSet(f, name) {
			f.Add(l.command, "server", "tool")
		}
	}
	f.Add("curl -u a:b -d 'x' https://a:hunter2x@b", "mcp", "mcp__a__delete_b")
	known := map[string]bool{}
	for _, r := range risk.Rules() {
		known[r.Name] = true
	}
	f.Fuzz(func(t *testing.T, command, server, tool string) {
		for _, c := range []retake.Call{
			{Kind: retake.CallShell, Command: command},
			{Kind: retake.CallMCP, Server: server, Tool: tool, Input: json.RawMessage(command)},
			{Kind: retake.CallMCP, Server: server, Tool: "delete_file", Input: json.RawMessage(command)},
			{Kind: retake.CallWrite, Tool: tool, Paths: []string{command, server}},
			{Kind: retake.CallShell, Command: "python3 - <<'E'\nimport os; os.remove(x)\n" + command + "\nE\n"},
		} {
			got := risk.Judge(c)
			checkTargets(t, got)
			if got.Destructive != (got.Rule != "") || got.Destructive && (!known[got.Rule] || got.Why == "") {
				t.Errorf("%+v", got)
			}
			if len(got.Effects) > risk.MaxEffects {
				t.Errorf("%d effects", len(got.Effects))
			}
			for _, text := range said(got) {
				if !utf8.ValidString(text) || len(text) > 250 || strings.ContainsAny(text, "\n\r") {
					t.Errorf("not fit for a card: %q", text)
				}
				if kinds := secrets.FindKinds([]byte(text)); len(kinds) > 0 && !strings.HasSuffix(text, "…") {
					t.Errorf("%v in %q", kinds, text)
				}
			}
		}
	})
}

func said(j risk.Judgement) []string {
	list := []string{j.Why}
	for _, e := range j.Effects {
		list = append(list, e.Target, e.Text)
	}
	return list
}

func BenchmarkJudge(b *testing.B) {
	set := readSet(b, "commands.txt")
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		shell(set[i%len(set)].command)
	}
}

// What the exit of a call says of the commands in it.
func TestV3_EndOfACall(t *testing.T) {
	t.Parallel()
	for command, want := range map[string][2]bool{ // done if it passed, not done if it failed
		"git push":                             {true, true},
		"cd app && git push":                   {true, true},
		"git push && make":                     {true, false},
		"git push; make":                       {false, false},
		"make; git push":                       {true, true},
		"git push || true":                     {false, true},
		"git push | tail":                      {false, false},
		"cat a | git push":                     {true, true},
		"git push &":                           {false, false},
		"! git push":                           {false, false},
		"if make; then git push; fi":           {false, false},
		"for r in a b; do git push $r; done":   {false, false},
		"(cd app && git push)":                 {true, true},
		"sudo git push":                        {true, true},
		"bash -c 'make && git push'":           {true, true},
		"bash -c 'git push; make'":             {false, false},
		"echo a b | xargs -n1 git push origin": {true, false},
	} {
		got := shell(command).Effects
		if len(got) != 1 || got[0].DoneIfPassed != want[0] || got[0].NotIfFailed != want[1] {
			t.Errorf("%s: %+v, want %v", command, got, want)
		}
	}
}

// The worst danger is named first, and all are known.
func TestV8_WorstDangerFirst(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"npm ci && git reset --hard && rm -rf ~":  "deletes ~; resets the files to HEAD; deletes node_modules and installs again: npm ci",
		"echo a > b; sqlite3 a.db 'drop table t'": "runs DROP TABLE on a database; writes over b",
		"echo a > b; echo c > d":                  "writes over b, d",
		"rm a && rm -rf .":                        "deletes .; deletes a",
	} {
		if got := shell(command); got.AllReasons() != want || !strings.HasPrefix(want, got.Why) {
			t.Errorf("%s: %q, first %q, want %q", command, got.AllReasons(), got.Why, want)
		}
	}
}

// A file that is not there is not written over.
func TestV4_OnlyWhatIsThere(t *testing.T) {
	t.Parallel()
	there := func(p string) bool { return p == "b" || p == "sub/c" || p == "/w/d" }
	for command, want := range map[string]string{
		"echo a > new":               "",
		"echo a > b; echo a > new":   "writes over b",
		"cd sub; echo a > c":         "writes over c",
		"cd sub; echo a > new":       "",
		"(cd sub); echo a > b":       "writes over b",
		"cd $DIR; echo a > new":      "writes over new",
		"echo a > /w/d":              "writes over /w/d",
		"echo a > *.txt":             "writes over *.txt",
		"truncate -s 0 new b":        "cuts b",
		"cp -f x new; mv -f x y":     "",
		"echo a > new; rm -rf build": "deletes build",
	} {
		if got := shell(command).WithoutMissing(there, nil); got.AllReasons() != want || got.Destructive != (want != "") {
			t.Errorf("%s: %q, want %q", command, got.AllReasons(), want)
		}
	}
}
