//go:build unix

package script_test

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// docPlayed are the pages of users that other tests play or make: the demo, the server, and what
// is generated from the program or from a run.
var docPlayed = []string{"docs/start/demo.md", "docs/start/tour.md", "docs/use/commands.md", "docs/use/json.md", "docs/use/settings.md", "docs/server/setup.md", "docs/server/upgrade.md"}

// docPages are all other pages of users, also those that come later.
func docPages(t *testing.T) []string {
	t.Helper()
	pages := []string{"README.md"}
	for _, shelf := range []string{"start", "use", "server"} {
		found, err := filepath.Glob("../../docs/" + shelf + "/*.md")
		if err != nil || len(found) == 0 {
			t.Fatalf("no pages in %s: %v", shelf, err)
		}
		for _, f := range found {
			if page := strings.TrimPrefix(filepath.ToSlash(f), "../../"); !slices.Contains(docPlayed, page) {
				pages = append(pages, page)
			}
		}
	}
	return pages
}

// rule is about the lines that match its pattern. One that no line needs is an error.
type rule struct{ pattern, text string }

// notRun is what no test can run, and why. Of a line of retake, command and flags must exist.
var notRun = []rule{
	{`^retake (show|restore) 16\b`, "needs an agent that deletes files outside the project; test/script/rescue.txtar has one"},
	{`^retake approve e7$`, "needs a person at a terminal, and a call that a policy stopped; test/script/gate.txtar has one"},
	{`^sudo `, "needs root and a user; the ordeal G31 installs a system daemon"},
	{`^go install `, "fetches the program from the network"},
	{`^make build$`, "builds the program, as TestMain does"},
	{`^(pip|npm) install `, "a package manager; test/sdk runs both libraries"},
	{`^(claude|docker) `, "starts an agent"},
	{`^retake console$`, "opens a browser"},
	{`^retake attach `, "needs a machine without a history; test/script/attach.txtar has one"},
	{`^retake backup now\b`, "needs a host that answers over ssh; test/real has one"},
}

// assumed is what a page takes for granted before a line, and what brings it about.
var assumed = []rule{
	{`^retake (verify|save|at) .*npm test`, `echo pass > result.txt`},
	{`^retake bisect .*npm test$`, `echo fail > result.txt; retake save "break the test"`},
	{`^retake (adopt|deinit) try\b`, `[ -d ../try ] || { retake fork good ../try && echo 2 > ../try/src/app.js && retake -C ../try save "try it"; }`},
	{`^retake restore latest --workspace shop$`, `cd ~; rm -rf shop`},
	{`^retake remote add `, `mkdir -p "$HOME/my-bucket"`},
	{`^retake save .*--wait-uploaded$`, `mkdir -p "$HOME/my-bucket"; retake remote list | grep -q my-bucket || retake remote add "$HOME/my-bucket"`},
	{`^retake undo --edits$`, `echo edit >> src/app.js`},
	{`^retake deinit --purge$`, `retake init || retake log > /dev/null`},
	{`^retake redo$`, `retake undo --yes`},
	{`^retake restore --(finish|undo)`, `interrupt-restore`},
}

// docScene makes the home that pages have in mind: a shop with 14 checkpoints of a person and
// two agents, a workspace that is new, and a directory that is not protected.
//
//go:embed testdata/docs-scene.sh
var docScene string

// docNames are what a page means, by what it says.
var docNames = strings.NewReplacer("/mnt/other/", "$HOME/other/", "s3://my-bucket/retake", `"$HOME/my-bucket"`,
	"WORKSPACE-ID", `$(retake status --json | grep -o 'ws_[0-9a-f-]*' | head -n 1)`,
	"git@example.com:me/shop-history.git", "git@host.invalid:shop --host-key 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMpgVJRxclP4eqMGZWeNoE6gq6aF0d60M837zQR8LyB+'")

// docPrograms are what some pages need, by what in a page needs it.
var docPrograms = map[string]string{"sqlite3": `sqlite3|\bshop\.db`, "python3": "(?m)^```python", "node": "(?m)^```js", "gofmt": "(?m)^```go"}

// docGrammars read a block in another language, and do not run it.
var docGrammars = map[string]string{"go": "gofmt -e", "python": "python3 -c 'import ast, sys; ast.parse(sys.stdin.read())'", "js": "node --input-type=module --check"}

// docBlock is a block of commands: the lines as they are typed, by their place in the page.
type docBlock struct {
	fence string
	at    int
	typed []string
}

const needsConfirmation = 6

var (
	commandLine = regexp.MustCompile(`^(retake|go|make|cd|rm|export|claude|docker|npm|pip|pg_dump)( |$)`)
	endComment  = regexp.MustCompile(`(^|\s+)#\s.*$`)
	verb        = regexp.MustCompile(`^retake [a-z]+`)
	consent     = regexp.MustCompile(`--accept [a-z,-]+`)
)

// docBlocks finds the blocks that hold commands: sh, console and bare ones.
func docBlocks(text string) ([]docBlock, error) {
	var blocks []docBlock
	var b docBlock
	open := false
	for i, line := range strings.Split(text, "\n") {
		fence, fenced := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fenced && open && fence != "":
			return nil, fmt.Errorf("line %d: the block of line %d is still open", i+1, b.at)
		case fenced && open:
			if b = b.commands(); len(b.typed) > 0 {
				blocks = append(blocks, b)
			}
			open = false
		case fenced:
			open, b = true, docBlock{fence: fence, at: i + 1}
		case open:
			b.typed = append(b.typed, line)
		}
	}
	if open {
		return nil, fmt.Errorf("the block of line %d is not closed", b.at)
	}
	return blocks, nil
}

// commands leaves what a user types. A bare block without a command is a picture or a text.
func (b docBlock) commands() docBlock {
	var all, prompted []string
	known, whole := b.fence == "sh", strings.Join(b.typed, "\n")
	for _, line := range b.typed {
		if after, ok := strings.CutPrefix(line, "$ "); ok {
			prompted = append(prompted, endComment.ReplaceAllString(after, ""))
		}
		if line = endComment.ReplaceAllString(line, ""); line != "" {
			all = append(all, line)
		}
		known = known || commandLine.MatchString(line)
	}
	b.typed = nil
	grammar, other := docGrammars[b.fence]
	switch {
	case other:
		b.typed = []string{grammar + " << 'EOF'\n" + whole + "\nEOF"}
	case b.fence != "" && b.fence != "sh" && b.fence != "console":
	case len(prompted) > 0:
		b.typed = prompted
	case known:
		b.typed = all
	}
	return b
}

// docStage is a home on which lines are typed, and a copy of how it was.
type docStage struct{ home, kept string }

func newDocStage(t *testing.T) docStage {
	t.Helper()
	dir := stage(t).Dir
	s := docStage{home: filepath.Join(dir, "h"), kept: filepath.Join(dir, "k")}
	bin := filepath.Join(s.home, "bin")
	if err := errors.Join(os.MkdirAll(bin, 0o700), os.Symlink(program, filepath.Join(bin, "retake")), os.Symlink(program+"d", filepath.Join(bin, "retaked"))); err != nil { // a page may delete it
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.bash(context.Background(), program+" daemon stop") })
	if out, err := s.bash(t.Context(), docScene+`cp -a "$HOME" "`+s.kept+`"`); err != nil {
		t.Fatalf("make the scene: %v\n%s", err, out)
	}
	return s
}

// bash runs a script with nobody to answer.
func (s docStage) bash(ctx context.Context, script string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute) // ends what hangs, on any machine
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", script)
	cmd.Dir, cmd.WaitDelay = filepath.Dir(s.home), time.Second
	cmd.Env = []string{
		"PATH=" + filepath.Join(s.home, "bin") + ":" + os.Getenv("PATH"), "HOME=" + s.home,
		"RETAKE_HOME=" + filepath.Join(s.home, ".retake"), "LANG=C.UTF-8", "TZ=UTC", "COLUMNS=80",
	}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// begin makes the home anew for a block, and goes where its page is: to what is not protected
// for init, to a new workspace for a recipe, else to the shop.
func (s docStage) begin(ctx context.Context, page string, b docBlock) error {
	at := "shop"
	switch {
	case strings.Contains(strings.Join(b.typed, "\n"), "retake init"):
		at = "app"
	case b.fence == "sh" && strings.HasPrefix(page, "docs/use/"):
		at = "new"
	}
	out, err := s.bash(ctx, fmt.Sprintf(`%s daemon stop; rm -rf "$HOME" && cp -a "%s" "$HOME" && echo "$HOME/%s" > "$HOME/.at" && touch "$HOME/.vars"`, program, s.kept, at))
	if err != nil {
		err = fmt.Errorf("begin: %w\n%s", err, out)
	}
	return err
}

// enter types a line where the one before left off.
func (s docStage) enter(ctx context.Context, line string) (int, string, error) {
	out, err := s.bash(ctx, `cd "$(cat ~/.at)" && . ~/.vars && set -o pipefail || exit 99`+"\n"+line+"\n"+`code=$?; pwd > ~/.at; export -p > ~/.vars; exit $code`)
	if exit := new(exec.ExitError); errors.As(err, &exit) && exit.ExitCode() > 0 {
		return exit.ExitCode(), out, nil
	}
	return 0, out, err
}

// confirmed types a line, and when it needs confirmation once more, with what the answer says.
func (s docStage) confirmed(ctx context.Context, line string) error {
	code, out, err := s.enter(ctx, line)
	for try := 0; code == needsConfirmation && try < 2; try++ {
		line = verb.ReplaceAllString(line, "$0 --yes "+consent.FindString(out))
		code, out, err = s.enter(ctx, line)
	}
	if code != 0 {
		return fmt.Errorf("%s: exit code %d\n%s", line, code, out)
	}
	return err
}

// play types one line, with what it assumes; or looks whether it could be typed.
func (s docStage) play(ctx context.Context, line string) error {
	if ruleOf(notRun, line) != "" {
		return s.known(ctx, line)
	}
	if first := ruleOf(assumed, line); first != "" {
		if code, out, err := s.enter(ctx, first); code != 0 || err != nil {
			return fmt.Errorf("prepare %s: exit code %d: %v\n%s", line, code, err, out) //nolint:errorlint // there may be none, and nobody looks into it
		}
	}
	return s.confirmed(ctx, docNames.Replace(line))
}

// known looks up the command and the flags of a line.
func (s docStage) known(ctx context.Context, line string) error {
	words := strings.Fields(line)
	if words[0] != "retake" {
		return nil
	}
	help, err := s.bash(ctx, "retake help "+words[1])
	if err != nil {
		return fmt.Errorf("%s: %w\n%s", line, err, help)
	}
	for _, w := range words[2:] {
		if name, _, _ := strings.Cut(w, "="); strings.HasPrefix(name, "-") && !strings.Contains(help, name) {
			return fmt.Errorf("%s: the help has no %s", line, name)
		}
	}
	return nil
}

func ruleOf(rules []rule, line string) string {
	for _, r := range rules {
		if regexp.MustCompile(r.pattern).MatchString(line) {
			return r.text
		}
	}
	return ""
}

// playPage types all lines of a page and answers what is wrong with it.
func (s docStage) playPage(ctx context.Context, page string, blocks []docBlock) error {
	var wrong []error
	for _, b := range blocks {
		if err := s.begin(ctx, page, b); err != nil {
			return err
		}
		for _, line := range b.typed {
			if err := s.play(ctx, line); err != nil {
				wrong = append(wrong, fmt.Errorf("%s, the block at line %d: %w", page, b.at, err))
			}
		}
	}
	return errors.Join(wrong...)
}

// Every command in a block of the pages for users works when it is typed.
func TestDocsCommands(t *testing.T) {
	t.Parallel()
	needs(t, "bash", "git")
	stages := make(chan docStage, 2) // to make one takes longer than to play a page
	stages <- newDocStage(t)
	stages <- newDocStage(t)
	var lines []string
	count := 0
	pages := docPages(t)
	played := sample(t, pages)
	for _, page := range pages {
		text, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		blocks, err := docBlocks(string(text))
		if err != nil {
			t.Errorf("%s: %v", page, err)
		}
		count += len(blocks)
		for _, b := range blocks {
			lines = append(lines, b.typed...)
		}
		if !slices.Contains(played, page) {
			continue
		}
		t.Run(page, func(t *testing.T) {
			t.Parallel()
			for program, use := range docPrograms {
				if regexp.MustCompile(use).Match(text) {
					needs(t, program)
				}
			}
			s := <-stages
			defer func() { stages <- s }()
			if err := s.playPage(t.Context(), page, blocks); err != nil {
				t.Error(err)
			}
		})
	}
	t.Logf("%d blocks, %d lines, %d of them not run", count, len(lines), checkRules(t, lines))
}

// checkRules wants each rule to be needed, and counts the lines that are not run.
func checkRules(t *testing.T, lines []string) int {
	t.Helper()
	used, skipped := map[string]bool{}, 0
	for _, line := range lines {
		used[ruleOf(notRun, line)], used[ruleOf(assumed, line)] = true, true
		if ruleOf(notRun, line) != "" {
			skipped++
		}
	}
	for _, r := range append(notRun[:len(notRun):len(notRun)], assumed...) {
		if !used[r.text] {
			t.Errorf("no line needs the rule %s", r.pattern)
		}
	}
	return skipped
}
