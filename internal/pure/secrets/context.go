package secrets

import "strings"

// contextTriggers find secrets by what is before them: a URL, a header, a flag of a program.
func contextTriggers() []trigger {
	list := []trigger{
		{text: "://", match: matchURLPassword},
		{text: "authorization", fold: true, match: matchAuthorization},
		{text: "bearer ", fold: true, match: matchBearer},
	}
	for _, f := range []passwordFlag{
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

// matchURLPassword matches the password of scheme://name:password@host.
func matchURLPassword(s string, i int) (secretMatch, bool) {
	in := func(c byte) bool {
		return c > ' ' && c < 0x7f && strings.IndexByte("/@\"'`<>\\[]", c) < 0
	}
	end := scanWhile(s, i+3, lookahead, in)
	if end >= len(s) || s[end] != '@' {
		return secretMatch{}, false
	}
	_, password, ok := strings.Cut(s[i+3:end], ":")
	if !ok || password == "" || isVariable(password) || isPlaceholder(password) {
		return secretMatch{}, false
	}
	return secretMatch{end - len(password), end, "url password"}, true
}

// isToken68 reports whether c may be part of a credential in a header.
func isToken68(c byte) bool { return isWordOrDash(c) || strings.IndexByte(".~+/=", c) >= 0 }

// matchAuthorization matches the credential of an Authorization header.
func matchAuthorization(s string, i int) (secretMatch, bool) {
	at := scanWhile(s, i+len("authorization"), 16, func(c byte) bool {
		return isSpace(c) || strings.IndexByte("\"'\\:=,[(>", c) >= 0
	})
	if at == i+len("authorization") {
		return secretMatch{}, false
	}
	for _, scheme := range []string{"bearer ", "basic ", "token ", "apikey ", "digest "} {
		if len(s)-at > len(scheme) && strings.EqualFold(s[at:at+len(scheme)], scheme) {
			return matchCredential(s, scanWhile(s, at+len(scheme), 8, isSpace), 6, "authorization")
		}
	}
	return secretMatch{}, false
}

// matchBearer matches the word anywhere, so the value must look like a credential.
func matchBearer(s string, i int) (secretMatch, bool) {
	from := i + len("bearer ")
	to := scanWhile(s, from, lookahead, isToken68)
	if !isWordStart(s, i) || to-from < 16 || !strings.ContainsAny(s[from:to], "0123456789") {
		return secretMatch{}, false
	}
	return matchCredential(s, from, 16, "bearer token")
}

func matchCredential(s string, from, least int, kind string) (secretMatch, bool) {
	to := scanWhile(s, from, lookahead, isToken68)
	if to-from < least || isPlaceholder(s[from:to]) {
		return secretMatch{}, false
	}
	return secretMatch{from, scanWhile(s, to, 0, isToken68), kind}, true
}

// passwordFlag is a flag that takes a password in some programs.
type passwordFlag struct {
	flag        string
	programs    []string
	hasUserName bool // the value is name:password
}

// maxFlagDistance is how far before a flag its program may be.
const maxFlagDistance = 160

// match matches the flag if one of its programs is before it on the same line.
func (f passwordFlag) match(s string, i int) (secretMatch, bool) {
	if i == 0 || s[i-1] != ' ' {
		return secretMatch{}, false
	}
	line := s[max(0, i-maxFlagDistance):i]
	line = line[strings.LastIndexByte(line, '\n')+1:]
	program := ""
	for _, p := range f.programs {
		if strings.Contains(line, p) {
			program = p
		}
	}
	at := i + len(f.flag)
	if program == "" || at >= len(s) {
		return secretMatch{}, false
	}
	apart := s[at] == ' ' || s[at] == '='
	if apart && (program == "mysql" || program == "mariadb") {
		return secretMatch{}, false // there the program prompts for the password
	}
	if !apart && f.flag[1] == '-' {
		return secretMatch{}, false // a longer flag
	}
	return f.matchValue(s, scanWhile(s, at, 2, func(c byte) bool { return c == ' ' || c == '=' }))
}

func (f passwordFlag) matchValue(s string, from int) (secretMatch, bool) {
	from = scanWhile(s, from, 2, func(c byte) bool { return c == '"' || c == '\'' || c == '\\' })
	to := scanWhile(s, from, lookahead, func(c byte) bool { return c > ' ' && strings.IndexByte("\"'\\;&|", c) < 0 })
	v := s[from:to]
	if f.hasUserName {
		_, password, ok := strings.Cut(v, ":")
		if !ok {
			return secretMatch{}, false
		}
		from, v = to-len(password), password
	}
	if len(v) < 3 || v[0] == '-' || isVariable(v) || isPlaceholder(v) {
		return secretMatch{}, false
	}
	return secretMatch{from, to, "password"}, true
}
