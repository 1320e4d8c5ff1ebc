package risk

import "strings"

// statement is what SQL text does.
type statement struct {
	destroys string // the first words that destroy: "DROP TABLE"
	writes   bool
}

// readSQL looks at each statement. Strings, names in quotes and comments say
// nothing.
func readSQL(text string) statement {
	var out statement
	var words []string
	end := func() {
		one := readStatement(words)
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
			i = past(text, i+1, string(c))
		case strings.HasPrefix(text[i:], "--"):
			i = past(text, i, "\n")
		case strings.HasPrefix(text[i:], "/*"):
			i = past(text, i, "*/")
		case nameByte(c):
			from := i
			for i < len(text) && nameByte(text[i]) {
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

func nameByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= '0' && c <= '9'
}

// past is the place behind the next end, or the end of the text.
func past(text string, i int, end string) int {
	if at := strings.Index(text[i:], end); at >= 0 {
		return i + at + len(end)
	}
	return len(text)
}

const sqlWrites = "INSERT UPDATE DELETE DROP TRUNCATE ALTER CREATE GRANT REVOKE MERGE REPLACE REINDEX VACUUM CALL DO COMMENT RENAME LOAD IMPORT RESTORE UPSERT"

func readStatement(words []string) statement {
	if len(words) == 0 {
		return statement{}
	}
	verb := verbOf(words)
	out := statement{writes: within(sqlWrites, verb) || verb == "COPY" && inList(words, "FROM")}
	bare := !inList(words, "WHERE") && !inList(words, "LIMIT")
	switch {
	case verb == "DROP" || verb == "TRUNCATE":
		out.destroys = strings.Join(words[:min(2, len(words))], " ")
	case verb == "DELETE" && bare:
		out.destroys = "DELETE without WHERE"
	case verb == "UPDATE" && bare && inList(words, "SET"):
		out.destroys = "UPDATE without WHERE"
	case verb == "ALTER" && inList(words, "DROP"):
		out.destroys = "ALTER DROP"
	}
	return out
}

// verbOf is the first word, or the one that does the work behind WITH.
func verbOf(words []string) string {
	verb := words[0]
	if verb == "WITH" || verb == "EXPLAIN" && inList(words, "ANALYZE") {
		for _, w := range words {
			if within("INSERT UPDATE DELETE MERGE", w) {
				verb = w
			}
		}
	}
	return verb
}

func inList(list []string, w string) bool {
	for _, l := range list {
		if l == w {
			return true
		}
	}
	return false
}

// sqlClient: on this machine what destroys counts, far away every statement that
// writes. When a variable holds the address, both.
func (j *judge) sqlClient(c *command) {
	if c.dry() {
		return
	}
	text, script := sqlText(c)
	did := readSQL(text)
	host, far := databaseHost(c)
	open := strings.Contains(host, "$")
	if script {
		did.destroys, did.writes = "a file of statements", true
	}
	if did.destroys != "" && (!far || open) {
		j.destroys("sql-destroy", "runs "+did.destroys+" on a database")
	}
	if did.writes && far {
		j.outside("database", host, c)
	}
}

// sqlText is the SQL of a call, and whether more of it comes from a file.
func sqlText(c *command) (text string, script bool) {
	parts := c.values("-c", "--command", "-e", "--execute", "--query", "-Q", "-q", "-cmd")
	if within("sqlite3 sqlite duckdb", c.name()) {
		for i, o := range c.operands("-cmd -c -init -separator -newline") {
			if i > 0 {
				parts = append(parts, o)
			}
		}
	}
	parts = append(parts, c.stdin)
	text = strings.Join(parts, ";")
	_, file := c.value("-f", "--file", "-i", "-init")
	file = file && within("psql sqlcmd cockroach cqlsh usql", c.name())
	return text, file || c.script && c.stdin == "" || strings.HasPrefix(strings.TrimSpace(text), ".read ") || strings.Contains(text, ";.read ")
}

const databaseFlags = "-c --command -e --execute -f --file -U --username -u --user -p --port -P -d --dbname -D --database -v --set -o -F -R -h --host -S --query -q -Q"

// databaseHost is where a client connects, and whether that is another machine.
func databaseHost(c *command) (host string, far bool) {
	if within("sqlite3 sqlite duckdb", c.name()) {
		return "", false
	}
	list := append(c.values("-h", "--host", "--url", "-S"), c.setting("PGHOST"), c.setting("MYSQL_HOST"))
	given := len(list) // these are hosts, the others may be
	list = append(list, c.values("-d", "--dbname", "-u")...)
	list = append(list, c.operands(databaseFlags)...)
	for i, one := range list {
		if h := hostIn(one, i < given); h != "" {
			return h, !loopback(h) && !strings.HasPrefix(h, "/")
		}
	}
	return "", false
}

// hostIn is the host of a URL, of host=… or of a value that is nothing else.
func hostIn(s string, alone bool) string {
	if strings.Contains(s, "://") {
		return hostOf(s)
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

func (j *judge) redis(c *command) {
	list := c.operands("-h -p -s -a -u -n -r -i --user --pass")
	verb := strings.ToUpper(first(list, ""))
	text := strings.ToUpper(c.stdin)
	if verb == "" && text != "" {
		verb = strings.ToUpper(first(strings.Fields(text), ""))
	}
	host := first(c.values("-h", "-u"), "")
	if strings.Contains(host, "://") {
		host = hostOf(host)
	}
	switch {
	case host != "" && !loopback(host):
		if !within("GET MGET KEYS SCAN INFO PING TTL TYPE EXISTS HGET HGETALL HKEYS LRANGE LLEN SMEMBERS SCARD ZRANGE ZCARD DBSIZE MONITOR STRLEN TIME", verb) && verb != "" {
			j.outside("database", host, c)
		}
	case within("FLUSHALL FLUSHDB DEL UNLINK", verb):
		j.destroys("sql-destroy", "runs "+verb+" on a database")
	}
}

func (j *judge) mongo(c *command) {
	text := strings.ToLower(strings.Join(append(c.values("--eval"), c.stdin), ";"))
	destroys := containsAny(text, "dropdatabase(", ".drop(", "deletemany({})", "remove({})", "dropcollection")
	writes := destroys || containsAny(text, "insert", "update", "delete", "remove(", "replaceone", "createindex", "bulkwrite", "findoneand", "renamecollection")
	host := ""
	for _, o := range append(c.values("--host"), c.operands("--eval --host --port -u -p --username --password")...) {
		if h := hostIn(o, false); h != "" {
			host = h
		}
	}
	if h, ok := c.value("--host"); ok {
		host = h
	}
	far := host != "" && !loopback(host)
	if destroys && (!far || strings.Contains(host, "$")) {
		j.destroys("sql-destroy", "drops data of a database")
	}
	if writes && far {
		j.outside("database", host, c)
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
