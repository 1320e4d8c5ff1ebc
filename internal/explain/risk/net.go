package risk

import (
	"cmp"
	"slices"
	"strings"

	"github.com/retake-dev/retake"
)

// hostFromURL returns the host of a URL, with or without a scheme. What only a shell could
// expand stays as written.
func hostFromURL(u string) string {
	if _, rest, ok := strings.Cut(u, "://"); ok {
		u = rest
	}
	if end := strings.IndexAny(u, "/?#"); end >= 0 {
		u = u[:end]
	}
	if at := strings.LastIndexByte(u, '@'); at >= 0 {
		u = u[at+1:]
	}
	if strings.HasPrefix(u, "[") {
		if end := strings.IndexByte(u, ']'); end > 0 {
			return u[1:end]
		}
	}
	if strings.HasPrefix(u, ":") {
		return "localhost"
	}
	if strings.HasPrefix(u, "$") {
		return u
	}
	host, _, _ := strings.Cut(u, ":")
	return host
}

// isLoopback reports whether a host is this machine.
func isLoopback(h string) bool {
	h = strings.ToLower(h)
	return h == "localhost" || h == "::1" || h == "0.0.0.0" || strings.HasPrefix(h, "127.") || strings.HasSuffix(h, ".localhost") ||
		h == "host.docker.internal"
}

const curlValueFlags = "-X --request -H --header -d --data --data-raw --data-binary --data-urlencode --json -F --form -T --upload-file -o --output --output-dir -u --user -A " +
	"--user-agent -b --cookie -c --cookie-jar -e --referer -m --max-time --connect-timeout -x --proxy -w --write-out --retry --retry-delay --cacert -E --cert " +
	"--key -K --config --resolve --url --oauth2-bearer -r --range -C --continue-at --limit-rate --unix-socket --form-string --data-ascii"

// judgeCurl judges curl by its method, or by the presence of a body.
func judgeCurl(j *callJudge, c *command) {
	if asksHelp(c) {
		return
	}
	judgeDownload(j, c)
	method := ""
	for _, m := range c.flagValues("-X", "--request") {
		method = strings.ToUpper(m)
	}
	sends := c.hasFlag("-d", "-F", "-T") || len(c.flagValues("--data", "--data-raw", "--data-binary", "--data-urlencode", "--data-ascii", "--json", "--form", "--form-string", "--upload-file")) > 0 ||
		hasAttachedValue(c, "-d", "-F", "-T")
	if method == "" && sends && !c.hasFlag("-G", "--get") {
		method = "POST"
	}
	if attachedMethod := groupedFlagValue(c, "X"); attachedMethod != "" {
		method = strings.ToUpper(attachedMethod)
	}
	addRequest(j, c, method, append(c.flagValues("--url"), c.operands(curlValueFlags)...))
}

// hasAttachedValue reports whether a flag carries its value in the same word: -da=b.
func hasAttachedValue(c *command, flags ...string) bool {
	for _, w := range c.args() {
		for _, f := range flags {
			if len(w.text) > 2 && strings.HasPrefix(w.text, f) && !strings.HasPrefix(w.text, "--") {
				return true
			}
		}
	}
	return false
}

// groupedFlagValue returns the value of a letter that ends a group of flags: -sX POST.
func groupedFlagValue(c *command, letter string) string {
	args := c.args()
	for i, w := range args {
		if len(w.text) > 2 && w.text[0] == '-' && isLetters(w.text[1:]) && strings.HasSuffix(w.text, letter) && i+1 < len(args) && !strings.HasPrefix(w.text, "-X") {
			return args[i+1].text
		}
	}
	return ""
}

// searchPort is where Elasticsearch and OpenSearch listen: a DELETE there deletes an index.
const searchPort = ":9200/"

// addRequest records a request that writes, once for each host other than this machine.
func addRequest(j *callJudge, c *command, method string, urls []string) {
	if method == "" || containsWord("GET HEAD OPTIONS TRACE", method) {
		return
	}
	if len(urls) == 0 {
		urls = []string{"an address from elsewhere"}
	}
	for _, u := range urls {
		if method == "DELETE" && strings.Contains(u, searchPort) {
			addUnrecoverable(j, retake.GateDelete, u, c)
		}
		if h := hostFromURL(u); !isLoopback(h) {
			j.addEffect("http", h, c)
		}
	}
}

func judgeWget(j *callJudge, c *command) {
	judgeWgetFile(j, c)
	method := strings.ToUpper(firstOr(c.flagValues("--method"), ""))
	if method == "" && len(c.flagValues("--post-data", "--post-file", "--body-data", "--body-file")) > 0 {
		method = "POST"
	}
	addRequest(j, c, method, c.operands("-O -o -P --output-document --header --post-data --post-file --method --body-data --body-file -U -e -t -T --user --password"))
}

// judgeHTTPie judges httpie: the first operand may be a method, and fields make it a POST.
func judgeHTTPie(j *callJudge, c *command) {
	list := c.operands("-a --auth -o --output -s --style --session --timeout -A --auth-type -p --print")
	method := ""
	if len(list) > 0 && isLetters(list[0]) && strings.ToUpper(list[0]) == list[0] {
		method, list = list[0], list[1:]
	}
	if len(list) == 0 || c.hasFlag("--help", "--offline") {
		return
	}
	for _, f := range list[1:] {
		field := strings.Contains(f, "=") && !strings.Contains(f, "==") || strings.Contains(f, "@")
		if method == "" && field {
			method = "POST"
		}
	}
	if method == "" && (c.stdin != "" || c.readsInput) {
		method = "POST"
	}
	addRequest(j, c, method, list[:1])
}

const sshValueFlags = "-p -i -l -o -F -J -L -R -D -W -b -c -E -e -m -O -Q -S -w -B -I"

// judgeSSH judges a command on another machine. It counts unless it clearly only reads.
func judgeSSH(j *callJudge, c *command) {
	list := c.operands(sshValueFlags)
	if len(list) == 0 || c.hasFlag("-V", "-Q", "-G") {
		return
	}
	host := list[0]
	remote := strings.Join(list[1:], " ")
	if remote == "" && c.stdin == "" && !c.readsInput {
		return // a shell that nobody types into, a tunnel, a test of the key
	}
	if remote != "" && isReadOnlyCommand(remote) {
		return
	}
	if containsAny(remote, remoteDeployments...) {
		addUnrecoverable(j, retake.GateDeploy, host, c)
	}
	judgeRemote(j, host, c, func(far *callJudge) { far.judgeShell(cmp.Or(remote, c.stdin), c.depth+1) })
	j.addEffect("ssh", host, c)
}

// isReadOnlyCommand reports whether every command of a text only reads.
func isReadOnlyCommand(text string) bool {
	parts := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n;&|", r) })
	for _, p := range parts {
		f := strings.Fields(p)
		for len(f) > 1 && f[0] == "sudo" {
			f = f[1:]
		}
		if len(f) == 0 {
			continue
		}
		status := containsWord("systemctl git docker kubectl", f[0]) && len(f) > 1 && containsWord("status log ps logs images get describe list-units is-active diff show", f[1])
		if !slices.Contains(known().words.ReadPrograms, f[0]) && !status || f[0] == "find" && strings.Contains(p, "-delete") || strings.Contains(p, ">") || strings.Contains(p, "$(") || strings.Contains(p, "-exec") {
			return false
		}
	}
	return len(parts) > 0
}

// remoteHost returns the host of user@host:path, or "" if the path is local.
func remoteHost(p string) string {
	if rest, ok := strings.CutPrefix(p, "rsync://"); ok {
		return hostFromURL(rest)
	}
	host, _, ok := strings.Cut(p, ":")
	if !ok || host == "" || strings.ContainsAny(host, "/\\") || len(host) == 1 {
		return ""
	}
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		host = host[at+1:]
	}
	if isLoopback(host) {
		return ""
	}
	return host
}

// judgeMail records mail that is sent; without a recipient the program only reads mail.
func judgeMail(j *callJudge, c *command) {
	to := c.operands("-s -a -c -b -r -S -u -i -e -F --subject --attach")
	for _, t := range to {
		if strings.Contains(t, "@") || c.hasFlag("-s") {
			j.addEffect("mail", t, c)
			return
		}
	}
}
