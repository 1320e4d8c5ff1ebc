package install_test

import (
	"strings"
)

// shape is a file of settings as people have them. EVENT and OTHER stand for two
// events of the agent that we use, ENTRY for an entry of somebody else's, and
// HOOKS for the key of the hooks.
type shape struct {
	name, text string
}

const (
	byteOrderMark = "\xef\xbb\xbf"

	groupEntry = `{"matcher": "Bash", "hooks": [{"type": "command", "command": "~/bin/audit.sh"}]}`
	flatEntry  = `{"command": "~/bin/audit.sh", "bash": "~/bin/audit.sh"}`
)

// of gives the text for one agent.
func (s shape) of(events []string, flat bool) string {
	entry := groupEntry
	if flat {
		entry = flatEntry
	}
	return strings.NewReplacer("EVENT", events[0], "OTHER", events[len(events)-1], "ENTRY", entry).Replace(s.text)
}

var shapes = []shape{
	{"nothing", ""},
	{"a line", "\n"},
	{"white space", " \t\r\n  "},
	{"byte order mark only", byteOrderMark},
	{"empty object", "{}"},
	{"empty object with line", "{}\n"},
	{"empty object with CRLF", "{}\r\n"},
	{"empty object, spaced", "{ }"},
	{"empty object over two lines", "{\n}\n"},
	{"empty object over three lines", "{\n\n}\n"},
	{"empty object, indented", "  {}\n"},
	{"empty object after lines", "\n\n{}"},
	{"empty object with mark", byteOrderMark + "{}"},
	{"empty object with comment", "{\n  // nothing yet\n}\n"},
	{"empty object with block comment", "{ /* nothing yet */ }"},
	{"one key", "{\n  \"model\": \"opus\"\n}\n"},
	{"one key, no last line", "{\n  \"model\": \"opus\"\n}"},
	{"one key, four spaces", "{\n    \"model\": \"opus\"\n}\n"},
	{"one key, tab", "{\n\t\"model\": \"opus\"\n}\n"},
	{"one key, one space", "{\n \"model\": \"opus\"\n}\n"},
	{"one key, no indentation", "{\n\"model\": \"opus\"\n}\n"},
	{"one key, CRLF", "{\r\n  \"model\": \"opus\"\r\n}\r\n"},
	{"one key, CRLF and mark", byteOrderMark + "{\r\n  \"model\": \"opus\"\r\n}\r\n"},
	{"one line", `{"model": "opus", "verbose": true}`},
	{"one line, spaced", `{ "model": "opus", "verbose": true }` + "\n"},
	{"one line, tight", `{"model":"opus","verbose":true}`},
	{"one line, tight, with hooks", `{"model":"opus","hooks":{"EVENT":[ENTRY]}}`},
	{"one line, tight, empty hooks", `{"model":"opus","hooks":{}}`},
	{"one line, tight, empty event", `{"model":"opus","hooks":{"EVENT":[]}}`},
	{"one line, tight, hooks first", `{"hooks":{},"model":"opus"}`},
	{"only empty hooks", `{"hooks":{}}`},
	{"only empty hooks, lines", "{\n  \"hooks\": {}\n}\n"},
	{"only empty hooks, closed below", "{\n  \"hooks\": {\n  }\n}\n"},
	{"only empty hooks, blank lines", "{\n  \"hooks\": {\n\n\n  }\n}\n"},
	{"only an empty event", "{\n  \"hooks\": {\n    \"EVENT\": []\n  }\n}\n"},
	{"two empty events", "{\n  \"hooks\": {\n    \"EVENT\": [],\n    \"OTHER\": [ ]\n  }\n}\n"},
	{"an empty event closed below", "{\n  \"hooks\": {\n    \"EVENT\": [\n    ]\n  }\n}\n"},
	{"an empty event with comment", "{\n  \"hooks\": {\n    \"EVENT\": [\n      // soon\n    ]\n  }\n}\n"},
	{"hooks with comment only", "{\n  \"hooks\": {\n    // soon\n  }\n}\n"},
	{"hooks with block comment", "{\n  \"hooks\": {/* soon */}\n}\n"},
	{"hooks of others", "{\n  \"hooks\": {\n    \"EVENT\": [\n      ENTRY\n    ]\n  }\n}\n"},
	{"hooks of others in two events", "{\n  \"hooks\": {\n    \"OTHER\": [\n      ENTRY\n    ],\n    \"EVENT\": [\n      ENTRY,\n      ENTRY\n    ]\n  }\n}\n"},
	{"hooks of others, event on one line", "{\n  \"hooks\": {\n    \"EVENT\": [ENTRY]\n  }\n}\n"},
	{"hooks of others, event on one line, two", "{\n  \"hooks\": {\n    \"EVENT\": [ENTRY, ENTRY]\n  }\n}\n"},
	{"hooks of others, all on one line", "{\n  \"a\": 1,\n  \"hooks\": {\"EVENT\": [ENTRY]}\n}\n"},
	{"hooks of others, event of theirs", "{\n  \"hooks\": {\n    \"Notification\": [\n      ENTRY\n    ]\n  },\n  \"z\": 1\n}\n"},
	{"hooks first", "{\n  \"hooks\": {\n    \"Notification\": [ENTRY]\n  },\n  \"permissions\": {\n    \"allow\": [\"Bash(ls:*)\"]\n  }\n}\n"},
	{"hooks in the middle", "{\n  \"a\": 1,\n  \"hooks\": {\n    \"EVENT\": [ENTRY]\n  },\n  \"z\": [1, 2, 3]\n}\n"},
	{"trailing comma in root", "{\n  \"a\": 1,\n}\n"},
	{"trailing comma everywhere", "{\n  \"a\": 1,\n  \"hooks\": {\n    \"EVENT\": [\n      ENTRY,\n    ],\n  },\n}\n"},
	{"trailing comma with space", "{\n  \"a\": 1 ,\n  \"hooks\": {\n    \"EVENT\": [\n      ENTRY ,  \n    ] ,\n  }\n}\n"},
	{"trailing comma on one line", `{"a": 1, "hooks": {"EVENT": [ENTRY,],},}`},
	{"line comments", "// mine\n{\n  // the model\n  \"model\": \"opus\" // the big one\n}\n// end\n"},
	{"line comment after the last", "{\n  \"a\": 1, // one\n  \"b\": 2 // two\n}\n"},
	{"line comment after trailing comma", "{\n  \"a\": 1, // one\n}\n"},
	{"line comments, CRLF", "{\r\n  \"a\": 1, // one\r\n  \"b\": 2 // two\r\n}\r\n"},
	{"line comment after an entry", "{\n  \"hooks\": {\n    \"EVENT\": [\n      ENTRY // theirs\n    ] // list\n  } // all\n}\n"},
	{"line comments before entries", "{\n  \"hooks\": {\n    // an event\n    \"EVENT\": [\n      // theirs\n      ENTRY\n      // no more\n    ]\n  }\n}\n"},
	{"line comment on one line", "{\"a\": 1, \"b\": 2 // two\n}\n"},
	{"block comments", "{\n  /* a */ \"a\" /* b */ : /* c */ 1 /* d */\n  /* e */\n}\n"},
	{"block comment between", "{\n  \"hooks\": {\n    \"EVENT\": [ENTRY /* theirs */, /* x */ ENTRY /* y */]\n  }\n}\n"},
	{"comment that looks like a hook", "{\n  // \"hooks\": {\"EVENT\": []}\n  \"a\": \"// no comment\"\n}\n"},
	{"braces in strings", "{\n  \"a\": \"}]{[\\\"\\\\\",\n  \"b\": \"{\"\n}\n"},
	{"unicode", "{\n  \"größe\": \"日本語 🧶 \\u00e9\",\n  \"emoji🧶\": [\"\\ud83e\\uddf6\"]\n}\n"},
	{"escaped keys", "{\n  \"\\u0068ooks\": {\n    \"EVENT\": [ENTRY]\n  }\n}\n"},
	{"numbers as they are", "{\n  \"a\": 1.0,\n  \"b\": 1e5,\n  \"c\": -0,\n  \"d\": 12345678901234567890\n}\n"},
	{"odd indentation", "{\n   \"a\": 1,\n      \"hooks\": {\n  \"EVENT\": [\n            ENTRY\n     ]\n   }\n }\n"},
	{"mixed tabs and spaces", "{\n\t\"a\": 1,\n    \"hooks\": {\n\t  \"EVENT\": [\n\t\t  ENTRY\n\t  ]\n    }\n}\n"},
	{"mixed line endings", "{\r\n  \"a\": 1,\n  \"b\": 2\r\n}\n"},
	{"opening brace on a line of its own", "{\n  \"hooks\":\n  {\n    \"EVENT\":\n    [\n      ENTRY\n    ]\n  }\n}\n"},
	{"comma first", "{ \"a\": 1\n, \"b\": 2\n, \"hooks\":\n  { \"EVENT\":\n    [ ENTRY\n    , ENTRY\n    ]\n  }\n}\n"},
	{"closing glued", "{\n  \"a\": 1,\n  \"b\": 2}"},
	{"opening glued", "{\"a\": 1,\n \"b\": 2\n}\n"},
	{"blank lines between", "{\n\n  \"a\": 1,\n\n\n  \"b\": 2\n\n}\n\n\n"},
	{"two lines at the end", "{\n  \"a\": 1\n}\n\n"},
	{"spaces at the end of lines", "{  \n  \"a\": 1,  \n  \"b\": 2  \n}  \n"},
	{"enterprise", `{
  "$schema": "https://json.schemastore.org/claude-code-settings.json",
  "env": {"HTTP_PROXY": "http://proxy:3128", "NODE_EXTRA_CA_CERTS": "/etc/ssl/corp.pem"},
  "permissions": {
    "allow": ["Bash(npm run test:*)", "Read(~/.zshrc)"],
    "deny": ["Bash(curl:*)", "Read(./.env)", "Read(./secrets/**)"],
    "defaultMode": "acceptEdits",
    "additionalDirectories": []
  },
  "hooks": {
    "EVENT": [
      {
        "matcher": "Bash|Edit|MultiEdit",
        "command": "x",
        "hooks": [
          {"type": "command", "command": "/opt/corp/dlp --stdin", "timeout": 5},
          {"type": "http", "url": "https://audit.corp/x", "headers": {"X-A": "$T"}}
        ]
      }
    ],
    "Notification": []
  },
  "statusLine": {"type": "command", "command": "~/.claude/line.sh"},
  "sandbox": {"network": {"allowedDomains": []}, "nested": {"deep": {"deeper": [[], {}, [[{}]]]}}}
}
`},
	{"others that mention us", `{
  "hooks": {
    "EVENT": [
      {"matcher": "", "hooks": [{"type": "command", "command": "echo retake hook claude-code >> log"}], "command": "echo retake hook cursor >> log"},
      {"hooks": [{"type": "command", "command": "sudo retake hook claude-code"}], "bash": "sudo retake hook copilot || true"},
      {"hooks": [{"type": "command", "command": "retake save && retake hook codex"}]},
      {"hooks": [{"type": "command", "command": "/opt/mistake hook gemini"}], "command": "/opt/mistake hook cursor"}
    ]
  }
}
`},
	{"entries that are no objects", "{\n  \"hooks\": {\n    \"EVENT\": [\n      null,\n      \"text\",\n      {\"hooks\": 7},\n      {\"hooks\": [3, null]}\n    ]\n  }\n}\n"},
	{"events of others that are no lists", "{\n  \"hooks\": {\n    \"Mine\": {\"a\": 1},\n    \"Yours\": true\n  }\n}\n"},
	{"version before", "{\n  \"version\": 1\n}\n"},
	{"version before, empty hooks", "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n"},
	{"version behind", "{\n  \"hooks\": {\n    \"EVENT\": [\n      ENTRY\n    ]\n  },\n  \"version\": 1\n}\n"},
	{"version behind empty hooks", "{\n  \"hooks\": {},\n  \"version\": 1\n}\n"},
	{"hooks turned off", "{\n  \"disableAllHooks\": true\n}\n"},
}
