package risk

import (
	"strings"

	"github.com/retake-dev/retake"
)

// judgePython judges python, including modules that are programs of their own.
func judgePython(j *callJudge, c *command) {
	for i, w := range c.words {
		if w.text == "-m" && i+1 < len(c.words) {
			j.judgeSimple(c.commandFrom(i + 1))
			return
		}
		if i > 0 && w.text != "-u" && w.text != "-B" {
			break
		}
	}
	args := c.operands("-W -X")
	if strings.HasSuffix(firstOr(args, ""), "manage.py") {
		judgeDjango(j, c, args)
		return
	}
	judgeCode(j, c)
}

func judgeDjangoAdmin(j *callJudge, c *command) {
	judgeDjango(j, c, append([]string{c.name()}, c.operands("--settings")...))
}

// judgeDjango judges the management program of a Django project.
func judgeDjango(j *callJudge, c *command, args []string) {
	verb := ""
	if len(args) > 1 {
		verb = args[1]
	}
	if containsWord("migrate flush reset_db sqlflush squashmigrations", verb) && !c.hasFlag("--plan", "--check") {
		j.addDanger("migrate", rulePhrase("migrate")+"manage.py "+verb, j.targetHere())
		if losesDatabase(c) {
			addUnrecoverable(j, retake.GateDelete, "manage.py "+verb, c)
		}
	}
	if verb == "shell" || verb == "shell_plus" {
		j.judgeInlineCode(strings.Join(append(c.flagValues("-c", "--command"), c.stdin), "\n"), c)
	}
	if verb == "dbshell" {
		if did := parseSQL(c.stdin); did.destroys != "" {
			j.addDanger("sql-destroy", "runs "+did.destroys+" on a database")
			addUnrecoverable(j, retake.GateDelete, did.destroys, c)
		}
	}
}

// judgeCode judges code that is part of the call itself, or in the file that it names.
func judgeCode(j *callJudge, c *command) {
	var parts []string
	switch c.name() {
	case "awk", "gawk", "mawk":
		parts = c.operands("-F -v -f")
		parts = parts[:min(1, len(parts))]
	case "pwsh", "powershell":
		parts = append(c.flagValues("-c", "-C", "-Command", "-command"), firstOr(c.operands(""), ""))
	case "php":
		parts = c.flagValues("-r")
	default:
		parts = c.flagValues("-c", "-e", "-E", "-p", "-pe", "-ne", "-pie", "-ie", "-i -e", "--eval", "--print")
	}
	list := c.operands("-W -X -r --require")
	if c.name() == "deno" && firstOr(list, "") == "eval" {
		parts = append(parts, list[1:]...)
		list = nil
	}
	if len(list) == 0 || list[0] == "-" {
		parts = append(parts, c.stdin)
	} else if len(parts) == 0 {
		runCodeFile(j, c)
	}
	j.judgeInlineCode(strings.Join(parts, "\n"), c)
}

// Words in code. Each is a call, so that prose does not match.
var (
	codeDeleteCalls = []string{
		"rmtree(", "os.truncate(", "os.remove(", "os.unlink(", ".unlink(", "unlink(", "unlink ", "os.removedirs(", "rmsync(", "rmdirsync(", "unlinksync(", "fs.rm(",
		"rm_rf", "rm_r(", "fileutils.rm", "file.delete(", "rimraf(", "truncatesync(", "deno.remove", "remove-item", ".emptydirsync(", "fs.remove(",
	}
	codeDropCalls  = []string{"drop table", "drop database", "drop schema", "truncate table", "flushall(", "flushdb(", "dropdatabase(", "drop_all(", "objects.all().delete()"}
	codeRunCalls   = []string{"system(", "subprocess", "popen(", "exec(", "execsync(", "spawn(", "spawnsync(", "child_process", "%x", "`", "system \"", "system '", "exec \"", "exec '", "qx"}
	codeShellTexts = []string{"rm -r", "rm -f", "rm','-", "'rm',", "\"rm\",", "git reset --hard", "git clean -"}
	codeWriteCalls = []string{
		"'w", "\"w", "'>'", "\">\"", "'+<'", "\"+<\"", "'>:", "\">:", "'r+", "\"r+", "write_text(", "write_bytes(", "writefile(", "writefilesync(", "copyfile", "shutil.copy", "shutil.move", "os.rename(",
		"os.replace(", "rename(", "renamesync(", "copyfilesync(", "cpsync(", "createwritestream(", "file.write(", "binwrite(", "file_put_contents(", "fileutils.cp", "fileutils.mv", "set-content", "out-file", "writetextfile", "extractall(",
	}
	codePostCalls = []string{
		"requests.post(", "requests.put(", "requests.patch(", "requests.delete(", "httpx.post(", "httpx.put(", "httpx.delete(", "axios.post(", "axios.put(",
		"axios.patch(", "axios.delete(", "http.post(", "net::http.post", "session.post(", "client.post(", "got.post(",
	}
	codeMailCalls = []string{"smtplib", "sendmail(", "nodemailer"}
)

// judgeInlineCode looks for calls that delete, send or change something elsewhere.
func (j *callJudge) judgeInlineCode(text string, c *command) {
	if text == "" {
		return
	}
	low := strings.ToLower(text)
	if codeDeletesFiles(low) {
		j.addDanger("code", rulePhrase("code")+"files", j.codeTargets(text, c)...)
	}
	if containsAny(low, codeDropCalls...) {
		j.addDanger("code", rulePhrase("code")+"data of a database", j.codeTargets(text, c)...)
	}
	if containsAny(low, codeWriteCalls...) || containsWord("awk gawk mawk", c.name()) && strings.Contains(low, ">") {
		j.addOverwriteOutside("writes over", withoutScratch(writtenTargets(j, text)))
	}
	if codeSendsRequest(low) {
		if host := firstURLHost(text); !isLoopback(host) {
			j.addEffect("code-http", host, c)
		}
	}
	if containsAny(low, codeMailCalls...) {
		j.addEffect("mail", "", c)
	}
	if strings.Contains(low, "boto3") && containsAny(low, ".put_", ".delete_", ".create_", ".upload_", ".terminate_", ".update_") {
		j.addEffect("cloud", "aws", c)
	}
}

func codeDeletesFiles(low string) bool {
	return containsAny(low, codeDeleteCalls...) || containsAny(low, codeRunCalls...) && containsAny(low, codeShellTexts...) ||
		containsAny(low, "fs/promises", "node:fs", "'fs'", "\"fs\"") && containsAny(low, " rm(", ";rm(", "(rm(", ").rm(")
}

func codeSendsRequest(low string) bool {
	methods := []string{"'post'", "\"post\"", "'put'", "\"put\"", "'patch'", "\"patch\"", "'delete'", "\"delete\""}
	return containsAny(low, codePostCalls...) || strings.Contains(low, "fetch(") && strings.Contains(low, "method") && containsAny(low, methods...) ||
		strings.Contains(low, "urlopen(") && containsAny(low, "data=", "method='", "method=\"")
}

// firstURLHost returns the host of the first URL in a text, or "".
func firstURLHost(text string) string {
	at := strings.Index(text, "://")
	if at < 0 {
		return ""
	}
	rest := text[max(0, at-5):]
	if end := strings.IndexAny(rest, "'\"` \n)"); end > 0 {
		rest = rest[:end]
	}
	return hostFromURL(rest)
}
