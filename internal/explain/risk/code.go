package risk

import "strings"

// python also runs modules that are programs of their own.
func (j *judge) python(c *command) {
	for i, w := range c.words {
		if w.text == "-m" && i+1 < len(c.words) {
			j.simple(c.after(i + 1))
			return
		}
		if i > 0 && w.text != "-u" && w.text != "-B" {
			break
		}
	}
	args := c.operands("-W -X")
	if strings.HasSuffix(first(args, ""), "manage.py") {
		j.manage(c, args)
		return
	}
	j.code(c)
}

func (j *judge) manages(c *command) {
	j.manage(c, append([]string{c.name()}, c.operands("--settings")...))
}

// manage is the program of a Django project.
func (j *judge) manage(c *command, args []string) {
	verb := ""
	if len(args) > 1 {
		verb = args[1]
	}
	if within("migrate flush reset_db sqlflush squashmigrations", verb) && !c.has("--plan", "--check") {
		j.destroys("migrate", phraseOf("migrate")+"manage.py "+verb)
	}
	if verb == "shell" || verb == "shell_plus" {
		j.inline(strings.Join(append(c.values("-c", "--command"), c.stdin), "\n"), c)
	}
	if verb == "dbshell" {
		if did := readSQL(c.stdin); did.destroys != "" {
			j.destroys("sql-destroy", "runs "+did.destroys+" on a database")
		}
	}
}

// code looks at a program that is written in the call itself. A program in a
// file is not read.
func (j *judge) code(c *command) {
	var parts []string
	switch c.name() {
	case "awk", "gawk", "mawk":
		parts = c.operands("-F -v -f")
		parts = parts[:min(1, len(parts))]
	case "pwsh", "powershell":
		parts = append(c.values("-c", "-C", "-Command", "-command"), first(c.operands(""), ""))
	case "php":
		parts = c.values("-r")
	default:
		parts = c.values("-c", "-e", "-E", "-p", "-pe", "-ne", "-pie", "-ie", "-i -e", "--eval", "--print")
	}
	list := c.operands("-W -X -r --require")
	if c.name() == "deno" && first(list, "") == "eval" {
		parts = append(parts, list[1:]...)
		list = nil
	}
	if len(list) == 0 || list[0] == "-" {
		parts = append(parts, c.stdin)
	}
	j.inline(strings.Join(parts, "\n"), c)
}

// Words in code. Each names a call, so that prose does not match.
var (
	codeDeletes = []string{
		"rmtree(", "os.remove(", "os.unlink(", ".unlink(", "unlink(", "unlink ", "os.removedirs(", "rmsync(", "rmdirsync(", "unlinksync(", "fs.rm(",
		"rm_rf", "rm_r(", "fileutils.rm", "file.delete(", "rimraf(", "truncatesync(", "deno.remove", "remove-item", ".emptydirsync(", "fs.remove(",
	}
	codeDrops  = []string{"drop table", "drop database", "drop schema", "truncate table", "flushall(", "flushdb(", "dropdatabase(", "drop_all(", "objects.all().delete()"}
	codeRuns   = []string{"system(", "subprocess", "popen(", "exec(", "execsync(", "spawn(", "spawnsync(", "child_process", "%x", "`"}
	codeShells = []string{"rm -r", "rm -f", "rm','-", "'rm',", "\"rm\",", "git reset --hard", "git clean -"}
	codePosts  = []string{
		"requests.post(", "requests.put(", "requests.patch(", "requests.delete(", "httpx.post(", "httpx.put(", "httpx.delete(", "axios.post(", "axios.put(",
		"axios.patch(", "axios.delete(", "http.post(", "net::http.post", "session.post(", "client.post(", "got.post(",
	}
	codeMails = []string{"smtplib", "sendmail(", "nodemailer"}
)

func (j *judge) inline(text string, c *command) {
	if text == "" {
		return
	}
	low := strings.ToLower(text)
	if deletes(low) {
		j.destroys("code", phraseOf("code")+"files")
	}
	if containsAny(low, codeDrops...) {
		j.destroys("code", phraseOf("code")+"data of a database")
	}
	if sends(low) {
		if host := urlIn(text); !loopback(host) {
			j.outside("code-http", host, c)
		}
	}
	if containsAny(low, codeMails...) {
		j.outside("mail", "", c)
	}
	if strings.Contains(low, "boto3") && containsAny(low, ".put_", ".delete_", ".create_", ".upload_", ".terminate_", ".update_") {
		j.outside("cloud", "aws", c)
	}
}

func deletes(low string) bool {
	return containsAny(low, codeDeletes...) || containsAny(low, codeRuns...) && containsAny(low, codeShells...) ||
		containsAny(low, "fs/promises", "node:fs", "'fs'", "\"fs\"") && containsAny(low, " rm(", ";rm(", "(rm(")
}

func sends(low string) bool {
	methods := []string{"'post'", "\"post\"", "'put'", "\"put\"", "'patch'", "\"patch\"", "'delete'", "\"delete\""}
	return containsAny(low, codePosts...) || strings.Contains(low, "fetch(") && strings.Contains(low, "method") && containsAny(low, methods...) ||
		strings.Contains(low, "urlopen(") && containsAny(low, "data=", "method='", "method=\"")
}

// urlIn is the host of the first address in a text.
func urlIn(text string) string {
	at := strings.Index(text, "://")
	if at < 0 {
		return ""
	}
	rest := text[max(0, at-5):]
	if end := strings.IndexAny(rest, "'\"` \n)"); end > 0 {
		rest = rest[:end]
	}
	return hostOf(rest)
}
