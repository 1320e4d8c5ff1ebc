package ssrftest

// newCases returns cases of one class.
func newCases(class, why string, urls ...string) []Case {
	var out []Case
	for _, u := range urls {
		out = append(out, Case{URL: u, Why: why, Class: class, Answers: singleAnswer(loopback)})
	}
	return out
}

// markReaching marks cases in which a careless client reaches the listener.
func markReaching(cases []Case) []Case {
	for i := range cases {
		cases[i].Reaches = true
	}
	return cases
}

func schemeCases() []Case {
	const host = "127.0.0.1:" + Port
	out := markReaching(newCases("plain scheme", "not encrypted, and inside", "http://"+host+"/", "HTTP://"+host+"/", "http://localhost:"+Port+"/", "http://[::1]:"+Port+"/"))
	out = append(out, newCases("plain scheme", "not encrypted", "http://"+PublicHost+"/", "http://"+PublicHost+":443/")...)
	for _, s := range []string{
		"ftp", "ftps", "file", "gopher", "dict", "ldap", "ldaps", "tftp", "sftp", "ssh", "smb", "ws", "wss", "unix", "http+unix", "jar", "netdoc", "data",
		"javascript", "view-source", "blob", "about", "php", "expect", "redis", "postgres", "httpss", "https+unix",
	} {
		out = append(out, newCases("unusual scheme", "not https", s+"://"+host+"/")...)
	}
	out = append(out, newCases("unusual scheme", "not https",
		"file:///etc/passwd", "file://localhost/etc/passwd", "javascript:alert(1)", "data:text/plain,a", "unix:/run/docker.sock", "jar:https://"+host+"/!/")...)
	return append(out, newCases("no scheme or host", "what it means depends on the reader",
		"", "/", "//"+host+"/", host, "127.0.0.1/a", "https:", "https:/", "https://", "https:///", "https:///"+host+"/", "https:"+host+"/", "https:/"+host+"/", "https:////"+host+"/",
		"https://:"+Port+"/", "https://?a", "https://#a", "://"+host+"/", ":", "https//"+host+"/", "https;//"+host+"/",
		" https://"+host+"/", "https://"+host+"/ ", "\thttps://"+host+"/", "https://"+host+"/\n", "ht\ntps://"+host+"/", "https://"+host+"/\x00", "https:// "+host+"/")...)
}

// ambiguousHostCases are URLs whose host different parsers see in different places.
func ambiguousHostCases() []Case {
	const in, out = "127.0.0.1:" + Port, PublicHost
	cases := markReaching(newCases("userinfo", "the host stands behind the @",
		"https://"+out+"@"+in+"/", "https://"+out+":443@"+in+"/", "https://user:password@"+in+"/", "https://user@"+in+"/", "https://@"+in+"/", "https://:@"+in+"/",
		"https://"+out+"%2f@"+in+"/", "https://"+out+"%23@"+in+"/", "https://"+out+"%5c@"+in+"/", "https://"+out+"%20@"+in+"/"))
	cases = append(cases, newCases("userinfo", "a name or a password",
		"https://"+in+"@"+out+"/", "https://user:password@"+out+"/", "https://user@"+out+"/", "https://@"+out+"/", "https://a@b@"+out+"/", "https://"+in+"@"+in+"@"+out+"/",
		"https://a@"+out+"@"+in+"/")...)
	cases = append(cases, newCases("backslash", "some read it as a slash",
		`https://`+out+`\@`+in+`/`, `https://`+in+`\@`+out+`/`, `https://`+in+`\.`+out+`/`, `https:\\`+in+`\`, `https:/\`+in+`/`, `https://`+out+`\`+in+`/`, `\\`+in+`\a`)...)
	cases = append(cases, newCases("fragment", "some read the host beyond it",
		"https://"+out+"#@"+in+"/", "https://"+in+"#@"+out+"/", "https://"+out+"/#", "https://"+out+"/#a", "https://"+in+"#."+out+"/")...)
	cases = append(cases, newCases("query", "the host ends at the question mark", "https://"+in+"?@"+out+"/", "https://"+in+"?."+out+"/", "https://127.0.0.1?"+out)...)
	return append(cases, newCases("list of hosts", "no host",
		"https://"+out+","+in+"/", "https://"+out+";"+in+"/", "https://"+out+" "+in+"/", "https://"+out+"|"+in+"/", "https://"+out+"&"+in+"/", "https://"+out+"\t"+in+"/",
		"https://"+out+"\r\nHost: "+in+"/", "https://"+out+"\n"+in+"/", "https://"+out+"\x00."+in+"/", "https://"+out+"/\r\nX-A: b", "https://*."+out+"/", "https://-a."+out+"/", "https://a-."+out+"/",
		"https://a..example.com/", "https://.example.com/", "https://$(id).example.com/", "https://{a}.example.com/", "https://!.example.com/", "https://'.example.com/", "https://\"127.0.0.1\"/")...)
}

// encodedHostCases are hosts that become another host when they are decoded.
func encodedHostCases() []Case {
	out := newCases("percent-encoded host", "127.0.0.1 or localhost when decoded",
		"https://%31%32%37%2e%30%2e%30%2e%31:"+Port+"/", "https://127%2e0%2e0%2e1:"+Port+"/", "https://127.0.0.%31:"+Port+"/", "https://%6c%6f%63%61%6c%68%6f%73%74:"+Port+"/",
		"https://localhos%74:"+Port+"/", "https://localhost%00."+PublicHost+"/", "https://localhost%2f."+PublicHost+"/", "https://127.0.0.1%2f."+PublicHost+"/", "https://127.0.0.1%3f."+PublicHost+"/",
		"https://127.0.0.1%23."+PublicHost+"/", "https://"+PublicHost+"%0d%0aHost:%20127.0.0.1/", "https://%5b::1%5d:"+Port+"/", "https://127.0.0.1%0a:"+Port+"/", "https://%/", "https://%zz/",
		"https://127.0.0.1%20:"+Port+"/", "https://%E2%93%9Bocalhost:"+Port+"/", "https://127%E3%80%820%E3%80%820%E3%80%821:"+Port+"/", "https://%EF%BC%91%EF%BC%92%EF%BC%97.0.0.1:"+Port+"/")
	return append(out, newCases("digits and dots of other scripts", "127.0.0.1 or localhost when folded",
		"https://１２７.０.０.１:"+Port+"/", "https://①②⑦.⓪.⓪.①:"+Port+"/", "https://127。0。0。1:"+Port+"/", "https://127．0．0．1:"+Port+"/", "https://127｡0｡0｡1:"+Port+"/",
		"https://𝟏𝟐𝟕.𝟎.𝟎.𝟏:"+Port+"/", "https://𝟙𝟚𝟟.𝟘.𝟘.𝟙:"+Port+"/", "https://١٢٧.٠.٠.١:"+Port+"/", "https://²130706433:"+Port+"/", "https://⑯⑨.254.⑯⑨.254/", "https://169。254。169。254/",
		"https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ:"+Port+"/", "https://ｌｏｃａｌｈｏｓｔ:"+Port+"/", "https://local\u00adhost:"+Port+"/", "https://local\u200bhost:"+Port+"/", "https://loc\u0430lhost:"+Port+"/", "https://ℓocalhost:"+Port+"/",
		"https://localho\u017ft:"+Port+"/", "https://metadata.google.ⓘnternal/", "https://"+PublicHost+"／"+"127.0.0.1/", "https://127.0.0.1\u2024/", "https://[：：1]:"+Port+"/", "https：//127.0.0.1/")...)
}

func zoneCases() []Case {
	return newCases("zone", "an address of one link",
		"https://[fe80::1%25lo]:"+Port+"/", "https://[fe80::1%25eth0]:"+Port+"/", "https://[fe80::1%lo]:"+Port+"/", "https://[fe80::1%251]:"+Port+"/", "https://[::1%25lo]:"+Port+"/",
		"https://[::1%251]:"+Port+"/", "https://[::1%25]:"+Port+"/", "https://[2606:4700:4700::1111%25eth0]:"+Port+"/", "https://[::ffff:127.0.0.1%25lo]:"+Port+"/", "https://[fd00::1%25a%2fb]:"+Port+"/",
		"https://[127.0.0.1]:"+Port+"/", "https://[localhost]:"+Port+"/", "https://["+PublicHost+"]/", "https://[]:"+Port+"/", "https://[::1:"+Port+"/", "https://::1]:"+Port+"/", "https://::1/",
		"https://[::1]a:"+Port+"/", "https://[::1].example.com/", "https://[[::1]]/", "https://[v1.a]/", "https://[::127.1]/", "https://[::ffff:0x7f.0.0.1]/", "https://[::ffff:127.0.0.1.]/")
}

func portCases() []Case {
	return newCases("port", "no port",
		"https://"+PublicHost+":/", "https://"+PublicHost+":0/", "https://"+PublicHost+":65536/", "https://"+PublicHost+":99999999999999999999/", "https://"+PublicHost+":-1/", "https://"+PublicHost+":+443/",
		"https://"+PublicHost+":0443/", "https://"+PublicHost+":443:80/", "https://"+PublicHost+":80@127.0.0.1:"+Port+"/", "https://"+PublicHost+":a/", "https://"+PublicHost+":0x1bb/", "https://"+PublicHost+":４４３/", "https://"+PublicHost+":443%2f/")
}
