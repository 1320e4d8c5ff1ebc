package risk

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/retake-dev/retake"
)

//go:embed programs.json
var programsFile []byte

// knownPrograms is the content of programs.json, indexed by the names of programs.
type knownPrograms struct {
	judges   map[string][]programJudge
	rules    map[string][]*programRule
	wrappers map[string][]*wrapper
	words    wordLists
}

// wordLists are words that several judges look for.
type wordLists struct {
	ReadPrograms     []string `json:"read_programs"`      // programs that only read
	AWSReadVerbs     []string `json:"aws_read_verbs"`     // begin the names of operations that change nothing
	CloudWriteVerbs  []string `json:"cloud_write_verbs"`  // of gcloud and az
	ToolReadWords    []string `json:"tool_read_words"`    // in the names of tools, for MCP servers without annotations
	ToolDestroyWords []string `json:"tool_destroy_words"` // the same
	ToolWriteWords   []string `json:"tool_write_words"`   // the same
	LocalServers     []string `json:"local_servers"`      // MCP servers that work on this machine alone
}

// programJudge judges the calls of one program.
type programJudge = func(*callJudge, *command)

// namedJudges returns the judges that programs.json names.
func namedJudges() map[string]programJudge {
	return map[string]programJudge{
		"remove": judgeRemove, "cd": judgeCd, "truncate": judgeTruncate, "dd": judgeDD, "tee": judgeTee, "mv": judgeMv, "cp": judgeCp, "ln": judgeLn,
		"install": judgeInstall, "read": judgeRead,
		"in-place-edit": judgeInPlaceEdit, "line-editor": judgeLineEditor, "rsync": judgeRsync, "tar": judgeTar, "unzip": judgeUnzip, "modes": judgeModes, "sort": judgeSort, "git": judgeGit,
		"sql-client": judgeSQLClient, "redis": judgeRedis, "kafka-topics": judgeKafkaTopics, "sql-argument": judgeSQLArgument, "mongo": judgeMongo, "django": judgeDjangoAdmin, "python": judgePython, "code": judgeCode,
		"curl": judgeCurl, "wget": judgeWget, "httpie": judgeHTTPie, "ssh": judgeSSH, "scp": judgeSCP, "gh": judgeGH, "docker": judgeDocker, "compose": judgeCompose,
		"kubectl": judgeKubectl, "aws": judgeAWS, "cloud": judgeCloud, "gsutil": judgeGsutil, "ansible": judgeAnsible, "vercel": judgeVercel, "mail": judgeMail,
		"global-install": judgeGlobalInstall, "crontab": judgeCrontab,
	}
}

// programCache holds the embedded programs once they were read.
var programCache struct {
	once sync.Once
	all  *knownPrograms
}

// known returns the embedded programs. They are read on first use.
func known() *knownPrograms {
	programCache.once.Do(func() {
		var err error
		if programCache.all, err = parsePrograms(programsFile); err != nil {
			panic(err) // a file of the program itself, which a test reads
		}
	})
	return programCache.all
}

// knows reports whether there is a rule for a program.
func (k *knownPrograms) knows(program string) bool {
	return len(k.judges[program])+len(k.rules[program])+len(k.wrappers[program]) > 0
}

func parsePrograms(data []byte) (*knownPrograms, error) {
	var f struct {
		Judges []struct {
			Judge    string   `json:"judge"`
			Programs []string `json:"programs"`
		} `json:"judges"` // two judges of one program run in this order
		Programs []retake.RiskProgram `json:"programs"`
		Wrappers []wrapper            `json:"wrappers"`
		Words    wordLists            `json:"words"`
	}
	if err := decodeJSON(data, &f); err != nil {
		return nil, err
	}
	named := namedJudges()
	k := &knownPrograms{judges: map[string][]programJudge{}, rules: indexRules(f.Programs), wrappers: map[string][]*wrapper{}, words: f.Words}
	for _, entry := range f.Judges {
		judge, ok := named[entry.Judge]
		if !ok {
			return nil, fmt.Errorf("unknown judge %q", entry.Judge)
		}
		for _, p := range entry.Programs {
			k.judges[p] = append(k.judges[p], judge)
		}
	}
	for i := range f.Wrappers {
		for _, p := range f.Wrappers[i].Programs {
			k.wrappers[p] = append(k.wrappers[p], &f.Wrappers[i])
		}
	}
	return k, nil
}

// decodeJSON decodes one value and refuses fields that do not exist.
func decodeJSON(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	var syntax *json.SyntaxError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("line %d: %w", lineAt(data, syntax.Offset), err)
	case errors.As(err, &wrong):
		return fmt.Errorf("line %d: %q cannot be a %s", lineAt(data, wrong.Offset), wrong.Field, wrong.Value)
	case err == nil && d.More():
		return errors.New("there is more after the end")
	}
	return err
}

func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(int64(len(data)), offset)], []byte("\n"))
}

// programRule is a RiskProgram, ready to be compared with a command.
type programRule struct {
	rule          string
	subcommands   [][]string // none: any use counts
	valueFlags    string     // separated by spaces
	harmlessFlags []string
}

// indexRules returns the rules of each program.
func indexRules(list []retake.RiskProgram) map[string][]*programRule {
	all := map[string][]*programRule{}
	for _, p := range list {
		r := &programRule{rule: p.Rule, valueFlags: strings.Join(p.ValueFlags, " "), harmlessFlags: p.HarmlessFlags}
		for _, s := range p.Subcommands {
			r.subcommands = append(r.subcommands, strings.Fields(s))
		}
		for _, name := range p.Programs {
			all[name] = append(all[name], r)
		}
	}
	return all
}

// rulesOf returns the rules of a program: ours, and those that the user added.
func (j *callJudge) rulesOf(program string) []*programRule {
	if len(j.added[program]) == 0 {
		return known().rules[program]
	}
	return slices.Concat(known().rules[program], j.added[program])
}

// judgeByTable judges a command by the rules of its program.
func (j *callJudge) judgeByTable(c *command) {
	list := j.rulesOf(c.name())
	if len(list) == 0 || c.isDryRun() {
		return
	}
	for _, r := range list {
		if len(r.harmlessFlags) > 0 && c.hasFlag(r.harmlessFlags...) {
			continue
		}
		ops := c.operands(r.valueFlags)
		if containsWord("gradle gradlew", c.name()) {
			for i, o := range ops {
				ops[i] = o[strings.LastIndexByte(o, ':')+1:] // the task of a project: :core:publish
			}
		}
		if verb, rest, ok := r.matchSubcommand(ops); ok {
			words := c.operandWords(r.valueFlags)
			j.addFinding(r.rule, r.describe(c, verb, rest), c, words[len(words)-len(rest):])
		}
	}
}

// matchSubcommand finds a subcommand among the first operands. Build tools take several in one
// call, and tools have flags with values that are not listed.
func (r *programRule) matchSubcommand(ops []string) (verb string, rest []string, ok bool) {
	if len(r.subcommands) == 0 {
		return "", ops, true
	}
	const deep = 4
	for _, words := range r.subcommands {
		for at := 0; at < deep && at+len(words) <= len(ops); at++ {
			if slices.Equal(ops[at:at+len(words)], words) {
				return strings.Join(words, " "), ops[at+len(words):], true
			}
		}
	}
	return "", nil, false
}

func (r *programRule) describe(c *command, verb string, rest []string) string {
	whole := strings.TrimSpace(c.name() + " " + verb)
	if ruleKind(r.rule) == "" || len(rest) == 0 {
		return whole
	}
	return strings.Join(rest[:min(3, len(rest))], " ")
}
