package risk_test

import (
	"runtime"
	"strings"
	"testing"

	"github.com/retake-dev/retake/internal/explain/risk"
)

type hostile struct {
	text        string
	destructive bool
}

func fill(part string) string { return strings.Repeat(part, risk.MaxText/len(part)) }

// nested is a shell in a shell in a shell, as deep as that.
func nested(deep int) string {
	text := "rm x"
	for range deep {
		text = "bash -c '" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return text
}

func hostiles() map[string]hostile {
	return map[string]hostile{
		"long":             {strings.Repeat("true;", risk.MaxText), true},
		"many commands":    {fill("true\n"), true},
		"deep shells":      {nested(8), true},
		"deep wrappers":    {fill("sudo ") + "true", true},
		"parentheses":      {fill("("), false},
		"substitutions":    {fill("$("), false},
		"braces":           {fill("${a:-"), false},
		"quotes":           {fill(`"$(`), false},
		"backquotes":       {fill("`"), false},
		"conditions":       {fill("if "), false},
		"signs":            {"echo $((" + fill("- ")[:60000] + "1))", false},
		"more signs":       {"echo $((" + fill("-")[:60000] + "1))", false},
		"choices":          {"echo $((" + fill("1?1:")[:60000] + "1))", false},
		"assignments":      {"echo $((" + fill("a=")[:60000] + "1))", false},
		"here-documents":   {fill("cat <<a;"), true},
		"pipes":            {fill("a|"), true},
		"ands":             {fill("a&&") + "a", true},
		"negations":        {fill("! "), false},
		"one word":         {fill("x"), false},
		"one flag":         {"rm -" + fill("r")[:60000] + " x", true},
		"variables":        {"a=" + strings.Repeat("x", 250) + ";" + fill("$a ")[:60000], true},
		"evals":            {fill("eval "), true},
		"patterns":         {"[[ a == " + fill("@(")[:60000], false},
		"arrays":           {"a=(" + fill("[1]=x ")[:60000] + ")", true},
		"quotes of quotes": {fill(`\"'`), false},
		"cases":            {fill("case a in a) "), false},
		"one target again": {"curl -d x" + fill(" a")[:60000], true},
		"bytes":            {fill("\xff"), false},
		"pattern sets":     {"rm " + fill("[:")[:60000], true},
		"sets of words":    {"rm " + fill("[:a[:b")[:4000] + fill(" [[:a")[:50000], true},
		"braces to expand": {"rm " + fill("{a,b}")[:60000], true},
		"many braces":      {fill("rm {1..64}\n"), true},
		"nested braces":    {fill("rm {a,{b,{c,{d,{e,{f,{g,h}}}}}}}{1..9}\n")[:60000], true},
		"directories":      {fill("cd a;rm b c d\n"), true},
		"copies":           {fill("cp {1..9} b\n"), true},
		"loops":            {"for a in {1..64}; do " + fill("rm $a$a$a;")[:60000] + "done", true},
		"arrays to delete": {"a=({1..64});" + fill("rm ${a[@]};")[:60000], true},
		"long variables":   {"a=" + strings.Repeat("x", 5000) + ";" + fill("rm $a\n")[:50000], true},
		"quotes in code":   {"python3 - <<'E'\nos.remove(x)\n" + fill(`\"`)[:60000] + "\nE\n", true},
		"strings in code":  {"python3 - <<'E'\nos.remove(x)\n" + fill("'rm -f a';")[:60000] + "\nE\n", true},
		"lists in code":    {"python3 - <<'E'\nos.remove(['a'" + fill(",'a/b'")[:60000] + "])\nE\n", true},
		"triple quotes":    {"python3 - <<'E'\nos.remove(x)\n" + fill("'''\n\"\"\"")[:60000] + "\nE\n", true},
	}
}

// Hostile texts are judged with little memory, and what is not read whole is
// taken for destructive. It runs alone, because it looks at the memory of the
// process.
func TestWorkIsBounded(t *testing.T) {
	for name, c := range hostiles() {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got := shell(c.text)
		runtime.ReadMemStats(&after)
		checkTargets(t, got)
		if c.destructive && !got.Destructive {
			t.Errorf("%s: not taken for destructive", name)
		}
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 256 {
			t.Errorf("%s: %d MiB", name, used)
		}
	}
}

// Up to the bound a shell in a shell is read.
func TestShellsInShellsAreRead(t *testing.T) {
	t.Parallel()
	if got := shell(nested(risk.MaxDepth)); got.Rule != "delete-files" {
		t.Errorf("%d deep: %+v", risk.MaxDepth, got)
	}
	if got := shell(nested(risk.MaxDepth + 1)); got.Rule != "unread" {
		t.Errorf("%d deep: %+v", risk.MaxDepth+1, got)
	}
}

// Each of these runs what follows.
func TestWrappersAreLookedThrough(t *testing.T) {
	t.Parallel()
	for _, w := range []string{
		"sudo -u bob A=1", "doas", "env A=1 -u B", "nohup", "setsid", "time -p", "timeout -k 5 10", "nice -n 5", "ionice -c3", "command", "exec", "builtin",
		"stdbuf -oL", "strace -f -o log", "chroot /x", "flock /tmp/l", "busybox", "docker exec -it -u root c", "docker run --rm -v a:b -e X=1 img",
		"docker compose -f x.yml exec -T s", "docker-compose run --rm s", "uv run --with x", "poetry run", "pipenv run", "conda run -n e", "bundle exec",
		"mise exec --", "direnv exec .", "doppler run --", "aws-vault exec p --", "xargs -0 -n 1", "parallel -j 2", "find . -name x -exec", "fd -e tmp -x",
		"npx -y", "pnpm exec", "pnpm dlx", "yarn dlx", "npm exec --", "bunx", "uvx", "eval", "watch -n 1", "! ", "A=1", "sudo env nice timeout 5", "if true; then :; fi;",
	} {
		if got := shell(w + " rm -rf x"); got.Rule != "delete-files" {
			t.Errorf("%s: %+v", w, got)
		}
	}
	for _, w := range []string{"su bob -c", "script -q -c", "npx -c", "nix-shell -p x --run", "bash -lc", "sh -c", "sudo bash -ec", "eval", "docker exec c sh -c", "xargs -I{} sh -c"} {
		if got := shell(w + " 'cd a && rm -rf x'"); got.Rule != "delete-files" {
			t.Errorf("%s: %+v", w, got)
		}
	}
}
