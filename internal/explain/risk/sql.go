package risk

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// sqlEffect is what a SQL text does.
type sqlEffect struct {
	destroys string // the first words that destroy: "DROP TABLE"
	writes   bool
}

// parseSQL classifies each statement of a text. Strings, quoted names and comments are
// skipped.
func parseSQL(text string) sqlEffect {
	var out sqlEffect
	var words []string
	end := func() {
		one := classifyStatement(words)
		out.writes = out.writes || one.writes
		if out.destroys == "" {
			out.destroys = one.destroys
		}
		words = words[:0]
	}
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == ';':
			end()
			i++
		case c == '\'' || c == '"':
			i = indexAfter(text, i+1, string(c))
		case strings.HasPrefix(text[i:], "--"):
			i = indexAfter(text, i, "\n")
		case strings.HasPrefix(text[i:], "/*"):
			i = indexAfter(text, i, "*/")
		case isNameByte(c):
			from := i
			for i < len(text) && isNameByte(text[i]) {
				i++
			}
			words = append(words, strings.ToUpper(text[from:i]))
		default:
			i++
		}
	}
	end()
	return out
}

func isNameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= '0' && c <= '9'
}

// indexAfter returns the index after the next occurrence of end, or the length of the text.
func indexAfter(text string, i int, end string) int {
	if at := strings.Index(text[i:], end); at >= 0 {
		return i + at + len(end)
	}
	return len(text)
}

const sqlWriteVerbs = "INSERT UPDATE DELETE DROP TRUNCATE ALTER CREATE GRANT REVOKE MERGE REPLACE REINDEX VACUUM CALL DO COMMENT RENAME LOAD IMPORT RESTORE UPSERT"

// classifyStatement classifies the words of one statement.
func classifyStatement(words []string) sqlEffect {
	if len(words) == 0 {
		return sqlEffect{}
	}
	verb := sqlVerb(words)
	out := sqlEffect{writes: containsWord(sqlWriteVerbs, verb) || verb == "COPY" && containsString(words, "FROM")}
	bare := !containsString(words, "WHERE") && !containsString(words, "LIMIT")
	switch {
	case verb == "DROP" || verb == "TRUNCATE":
		out.destroys = strings.Join(words[:min(2, len(words))], " ")
	case verb == "DELETE" && bare:
		out.destroys = "DELETE without WHERE"
	case verb == "UPDATE" && bare && containsString(words, "SET"):
		out.destroys = "UPDATE without WHERE"
	case verb == "ALTER" && containsString(words, "DROP"):
		out.destroys = "ALTER DROP"
	}
	return out
}

// sqlVerb returns the first word of a statement, or the verb after WITH.
func sqlVerb(words []string) string {
	verb := words[0]
	if verb == "WITH" || verb == "EXPLAIN" && containsString(words, "ANALYZE") {
		for _, w := range words {
			if containsWord("INSERT UPDATE DELETE MERGE", w) {
				verb = w
			}
		}
	}
	return verb
}

func containsString(list []string, w string) bool {
	for _, l := range list {
		if l == w {
			return true
		}
	}
	return false
}

// judgeSQLClient judges SQL clients: on this machine destructive statements count, on
// another one every statement that writes. If a variable holds the address, both apply.
func judgeSQLClient(j *callJudge, c *command) {
	if c.isDryRun() {
		return
	}
	text, script := sqlText(c)
	did := parseSQL(text)
	host, far := databaseHost(c)
	open := strings.Contains(host, "$")
	if script {
		did.destroys, did.writes = "a file of statements", true
	}
	if did.destroys != "" && !containsWord("sqlite3 sqlite duckdb", c.name()) {
		addUnrecoverable(j, retake.GateDelete, strings.TrimSpace(did.destroys+" "+host), c)
	}
	if did.destroys != "" && (!far || open) {
		j.addDanger("sql-destroy", "runs "+did.destroys+" on a database", j.databaseFiles(c)...)
	}
	if did.writes && far {
		j.addEffect("database", host, c)
	}
}

// databaseFiles returns the file of a database that has one, and the newest part of its content, which
// SQLite keeps beside it.
func (j *callJudge) databaseFiles(c *command) []Target {
	if !containsWord("sqlite3 sqlite duckdb", c.name()) {
		return nil
	}
	for file := range c.eachOperand("-cmd -c -init -separator -newline") {
		if file.text == "" || file.text == ":memory:" {
			return nil
		}
		if strings.HasPrefix(file.text, "file:") {
			name, _, _ := strings.Cut(strings.TrimPrefix(file.text, "file:"), "?")
			file = plainWord(name)
		}
		list := j.targetsOf(c, []word{file}, true)
		for _, t := range list {
			if len(t.Paths) == 0 {
				return list
			}
			t.Name, t.Paths = t.Name+"-wal", slices.Clone(t.Paths)
			for i := range t.Paths {
				t.Paths[i] += "-wal"
			}
			list = append(list, t)
		}
		return list
	}
	return nil
}

// sqlText returns the SQL in a call, and whether more of it comes from a file.
func sqlText(c *command) (text string, script bool) {
	parts := c.flagValues("-c", "--command", "-e", "--execute", "--query", "-Q", "-q", "-cmd")
	if containsWord("sqlite3 sqlite duckdb", c.name()) {
		for i, o := range c.operands("-cmd -c -init -separator -newline") {
			if i > 0 {
				parts = append(parts, o)
			}
		}
	}
	parts = append(parts, c.stdin)
	text = strings.NewReplacer(`\n`, "\n", `\t`, " ").Replace(strings.Join(parts, ";")) // as in $'…'
	_, file := c.flagValue("-f", "--file", "-i", "-init")
	file = file && containsWord("psql sqlcmd cockroach cqlsh usql", c.name())
	return text, file || c.readsInput && c.stdin == "" || strings.HasPrefix(strings.TrimSpace(text), ".read ") || strings.Contains(text, ";.read ")
}

const databaseValueFlags = "-c --command -e --execute -f --file -U --username -u --user -p --port -P -d --dbname -D --database -v --set -o -F -R -h --host -S --query -q -Q"

// databaseHost returns where a client connects, and whether that is another machine.
func databaseHost(c *command) (host string, far bool) {
	if containsWord("sqlite3 sqlite duckdb", c.name()) {
		return "", false
	}
	list := append(c.flagValues("-h", "--host", "--url", "-S"), c.envValue("PGHOST"), c.envValue("MYSQL_HOST"))
	given := len(list) // these are hosts, the others may be
	list = append(list, c.flagValues("-d", "--dbname", "-u")...)
	list = append(list, c.operands(databaseValueFlags)...)
	for i, one := range list {
		if h := hostFromArg(one, i < given); h != "" {
			return h, !isLoopback(h) && !strings.HasPrefix(h, "/")
		}
	}
	return "", false
}

// hostFromArg returns the host in a URL or in host=…; with alone the whole value is a host.
func hostFromArg(s string, alone bool) string {
	if strings.Contains(s, "://") {
		return hostFromURL(s)
	}
	for _, f := range strings.Fields(s) {
		if h, ok := strings.CutPrefix(f, "host="); ok {
			return h
		}
	}
	if alone || strings.HasPrefix(s, "$") {
		return s
	}
	return ""
}

// judgeSQLArgument judges programs of services that run the SQL in one of their arguments. Wrangler runs
// it on a file of the project, unless it is told otherwise.
func judgeSQLArgument(j *callJudge, c *command) {
	if c.name() == "wrangler" && !c.hasFlag("--remote") {
		return
	}
	for _, w := range append(c.args(), word{text: c.stdin}) {
		if did := parseSQL(w.text); did.destroys != "" {
			addUnrecoverable(j, retake.GateDelete, did.destroys, c)
			j.addEffect("database", c.name(), c)
		}
	}
}

// judgeKafkaTopics judges the program that creates and deletes topics.
func judgeKafkaTopics(j *callJudge, c *command) {
	if topic, _ := c.flagValue("--topic"); c.hasFlag("--delete") {
		addUnrecoverable(j, retake.GateDelete, topic, c)
		j.addEffect("message", topic, c)
	}
}

// judgeRedis judges the first command sent to redis, by where it is sent.
func judgeRedis(j *callJudge, c *command) {
	list := c.operands("-h -p -s -a -u -n -r -i --user --pass")
	verb := strings.ToUpper(firstOr(list, ""))
	text := strings.ToUpper(c.stdin)
	if verb == "" && text != "" {
		verb = strings.ToUpper(firstOr(strings.Fields(text), ""))
	}
	host := firstOr(c.flagValues("-h", "-u"), "")
	if strings.Contains(host, "://") {
		host = hostFromURL(host)
	}
	if strings.HasPrefix(verb, "FLUSH") || c.generatedArgs && containsWord("DEL UNLINK", verb) {
		addUnrecoverable(j, retake.GateDelete, verb, c)
	}
	switch {
	case host != "" && !isLoopback(host):
		if !containsWord("GET MGET KEYS SCAN INFO PING TTL TYPE EXISTS HGET HGETALL HKEYS LRANGE LLEN SMEMBERS SCARD ZRANGE ZCARD DBSIZE MONITOR STRLEN TIME", verb) && verb != "" {
			j.addEffect("database", host, c)
		}
	case containsWord("FLUSHALL FLUSHDB DEL UNLINK", verb):
		j.addDanger("sql-destroy", "runs "+verb+" on a database")
	}
}

// judgeMongo judges the script of a mongo shell by the calls in it.
func judgeMongo(j *callJudge, c *command) {
	text := strings.ToLower(strings.Join(append(c.flagValues("--eval"), c.stdin), ";"))
	destroys := containsAny(text, "dropdatabase(", ".drop(", "deletemany({})", "remove({})", "dropcollection")
	writes := destroys || containsAny(text, "insert", "update", "delete", "remove(", "replaceone", "createindex", "bulkwrite", "findoneand", "renamecollection")
	host := ""
	for _, o := range append(c.flagValues("--host"), c.operands("--eval --host --port -u -p --username --password")...) {
		if h := hostFromArg(o, false); h != "" {
			host = h
		}
	}
	if h, ok := c.flagValue("--host"); ok {
		host = h
	}
	far := host != "" && !isLoopback(host)
	if destroys {
		addUnrecoverable(j, retake.GateDelete, host, c)
	}
	if destroys && (!far || strings.Contains(host, "$")) {
		j.addDanger("sql-destroy", "drops data of a database")
	}
	if writes && far {
		j.addEffect("database", host, c)
	}
}

func containsAny(s string, list ...string) bool {
	for _, l := range list {
		if strings.Contains(s, l) {
			return true
		}
	}
	return false
}
