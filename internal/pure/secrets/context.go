package secrets

import "strings"

// contextTriggers find secrets by what stands before them: a URL, a header, a
// flag of a program.
func contextTriggers() []trigger {
	list := []trigger{
		{text: "://", match: urlPassword},
		{text: "authorization", fold: true, match: authorization},
		{text: "bearer ", fold: true, match: bearer},
	}
	for _, f := range []flagged{
		{"-u", []string{"curl"}, true},
		{"--user", []string{"curl"}, true},
		{"-p", []string{"mysql", "mariadb", "sshpass", "docker login"}, false},
		{"-a", []string{"redis-cli"}, false},
		{"-w", []string{"ldapsearch", "ldapmodify"}, false},
	} {
		list = append(list, trigger{text: f.flag, match: f.match})
	}
	return list
}

// urlPassword covers the password of scheme://name:password@host.
func urlPassword(s string, i int) (hit, bool) {
	in := func(c byte) bool {
		return c > ' ' && c < 0x7f && strings.IndexByte("/@\"'`<>\\[]", c) < 0
	}
	end := run(s, i+3, lookahead, in)
	if end >= len(s) || s[end] != '@' {
		return hit{}, false
	}
	_, password, ok := strings.Cut(s[i+3:end], ":")
	if !ok || password == "" || variable(password) || placeholder(password) {
		return hit{}, false
	}
	return hit{end - len(password), end, "url password"}, true
}

// token68 are the bytes of a credential in a header.
func token68(c byte) bool { return dashed(c) || strings.IndexByte(".~+/=", c) >= 0 }

func authorization(s string, i int) (hit, bool) {
	at := run(s, i+len("authorization"), 16, func(c byte) bool {
		return space(c) || strings.IndexByte("\"'\\:=,[(>", c) >= 0
	})
	if at == i+len("authorization") {
		return hit{}, false
	}
	for _, scheme := range []string{"bearer ", "basic ", "token ", "apikey ", "digest "} {
		if len(s)-at > len(scheme) && strings.EqualFold(s[at:at+len(scheme)], scheme) {
			return credential(s, run(s, at+len(scheme), 8, space), 6, "authorization")
		}
	}
	return hit{}, false
}

// bearer takes the word anywhere, so the value must look like a credential.
func bearer(s string, i int) (hit, bool) {
	from := i + len("bearer ")
	to := run(s, from, lookahead, token68)
	if !free(s, i) || to-from < 16 || !strings.ContainsAny(s[from:to], "0123456789") {
		return hit{}, false
	}
	return credential(s, from, 16, "bearer token")
}

func credential(s string, from, least int, kind string) (hit, bool) {
	to := run(s, from, lookahead, token68)
	if to-from < least || placeholder(s[from:to]) {
		return hit{}, false
	}
	return hit{from, run(s, to, 0, token68), kind}, true
}

// flagged is a flag that carries a password in some programs.
type flagged struct {
	flag     string
	programs []string
	named    bool // name:password
}

// before is how far from a flag its program may stand.
const before = 160

func (f flagged) match(s string, i int) (hit, bool) {
	if i == 0 || s[i-1] != ' ' {
		return hit{}, false
	}
	line := s[max(0, i-before):i]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	program := ""
	for _, p := range f.programs {
		if strings.Contains(line, p) {
			program = p
		}
	}
	at := i + len(f.flag)
	if program == "" || at >= len(s) {
		return hit{}, false
	}
	apart := s[at] == ' ' || s[at] == '='
	if apart && (program == "mysql" || program == "mariadb") {
		return hit{}, false // there it asks for the password
	}
	if !apart && f.flag[1] == '-' {
		return hit{}, false // a longer flag
	}
	return f.value(s, run(s, at, 2, func(c byte) bool { return c == ' ' || c == '=' }))
}

func (f flagged) value(s string, from int) (hit, bool) {
	from = run(s, from, 2, func(c byte) bool { return c == '"' || c == '\'' || c == '\\' })
	to := run(s, from, lookahead, func(c byte) bool { return c > ' ' && strings.IndexByte("\"'\\;&|", c) < 0 })
	v := s[from:to]
	if f.named {
		_, password, ok := strings.Cut(v, ":")
		if !ok {
			return hit{}, false
		}
		from, v = to-len(password), password
	}
	if len(v) < 3 || v[0] == '-' || variable(v) || placeholder(v) {
		return hit{}, false
	}
	return hit{from, to, "password"}, true
}
