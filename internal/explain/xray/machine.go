package xray

import (
	"slices"
	"strings"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/pathclass"
	"github.com/retake-dev/retake/internal/pure/secrets"
	"github.com/retake-dev/retake/internal/pure/termtext"
)

var machineReaders = []reader{
	{name: "sqlite@1", limit: maxSQLite, magic: sqliteMagic, read: readSQLite, wants: isSQLite},
	{name: "unit@1", limit: maxText, read: readUnit, wants: func(p fileLocation) bool {
		return (p.ext == ".service" || p.ext == ".timer" || p.ext == ".socket") && (p.isWorkspaceFile() || p.hasParent("systemd"))
	}},
	{name: "crontab-system@1", limit: maxText, read: readSystemCrontab, wants: isSystemCrontab},
	{name: "crontab@1", limit: maxText, read: readCrontab, wants: func(p fileLocation) bool {
		return !isSystemCrontab(p) && (p.name == "crontab" || p.ext == ".cron" || strings.HasPrefix(p.dir+"/", "var/spool/cron/") || strings.Contains(p.dir+"/", "/var/spool/cron/")) &&
			(p.isWorkspaceFile() || p.hasParent("cron"))
	}},
	{name: "secret@1", limit: maxText, skipOversized: true, read: readSecrets, wants: func(p fileLocation) bool {
		return p.isWorkspaceFile() && !pathclass.IsBinary(p.path) && p.class != pathclass.Database
	}},
}

// isSQLite accepts every file that may be a database by its name, or by its size, which is
// a multiple of the page size. Its first bytes decide.
func isSQLite(p fileLocation) bool {
	switch p.class {
	case pathclass.Dependency, pathclass.Git, pathclass.Cache, pathclass.Build:
		return false
	default:
	}
	return pathclass.IsSQLite(p.path) || (p.entry.Size%minPageSize == 0 && p.entry.Size <= maxSQLite && !pathclass.IsBinary(p.path))
}

func isSystemCrontab(p fileLocation) bool { return p.hasSuffix("etc/crontab") || p.inDir("etc/cron.d") }

// readSecrets returns which kinds of secrets a text likely holds.
func readSecrets(in input) ([]retake.Trait, error) {
	text := string(in.data)
	if termtext.IsBinary(text) {
		return nil, nil
	}
	var traits []retake.Trait
	for _, kind := range secrets.FindKinds(in.data) {
		traits = append(traits, retake.Trait{Kind: retake.FactSecret, Name: kind})
	}
	return traits, nil
}

// unitKeys are the keys of a unit that say what it starts, or when, or where it listens.
// The first one present counts.
var unitKeys = map[string][]string{
	"Service": {"ExecStart"},
	"Timer":   {"OnCalendar", "OnBootSec", "OnStartupSec", "OnActiveSec", "OnUnitActiveSec"},
	"Socket":  {"ListenStream", "ListenDatagram", "ListenSequentialPacket", "ListenFIFO", "ListenNetlink"},
}

// readUnit reads a systemd unit. Its name is that of the file, which CompareReadings knows.
func readUnit(in input) ([]retake.Trait, error) {
	text := strings.NewReplacer("\r\n", "\n", "\\\n", " ").Replace(string(in.data))
	section, isUnit := "", false
	found := map[string][]string{}
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			section = line[1 : len(line)-1]
			isUnit = isUnit || section == "Unit" || section == "Install" || unitKeys[section] != nil
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key, value = strings.TrimSpace(key), strings.Join(strings.Fields(value), " ")
		switch {
		case !ok || !slices.Contains(unitKeys[section], key):
		case value == "":
			delete(found, key) // an empty one takes the earlier ones back
		default:
			found[key] = append(found[key], value)
		}
	}
	if !isUnit {
		return nil, nil // other programs have files of that name too
	}
	t := retake.Trait{Kind: retake.FactUnit}
	for _, section := range []string{"Service", "Timer", "Socket"} {
		for _, key := range unitKeys[section] {
			if t.Value == "" && len(found[key]) > 0 {
				t.Value = in.maskedValue(strings.Join(found[key], "; "))
			}
		}
	}
	return []retake.Trait{t}, nil
}

func readCrontab(in input) ([]retake.Trait, error)       { return in.parseCrontab(false), nil }
func readSystemCrontab(in input) ([]retake.Trait, error) { return in.parseCrontab(true), nil }

// parseCrontab reads lines of a schedule and a command. In system crontabs a user is
// between them.
func (in input) parseCrontab(user bool) []retake.Trait {
	l := newTraitList(in)
	forEachLine(in.data, func(b []byte) bool {
		fields := strings.Fields(string(b))
		times := 5
		if len(fields) > 0 && fields[0][0] == '@' {
			times = 1
		}
		skip := times
		if user {
			skip++
		}
		if len(fields) <= skip || fields[0][0] == '#' || !isCronSchedule(fields[:times]) {
			return true
		}
		command := string(b)
		for range skip {
			command = strings.TrimLeft(command, " \t")
			command = command[strings.IndexAny(command, " \t"):]
		}
		name, _ := secrets.Mask(strings.TrimSpace(command))
		l.add(retake.Trait{Kind: retake.FactCron, Name: in.boundName(name), Value: in.boundValue(strings.Join(fields[:times], " "), maxShownWidth)})
		return true
	})
	return l.traits
}

// isCronSchedule distinguishes a schedule from a variable assignment. Names of months and
// days are allowed.
func isCronSchedule(fields []string) bool {
	if len(fields) == 1 {
		return true // @daily
	}
	for _, f := range fields {
		if strings.Trim(f, "0123456789*/,-~?#abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ") != "" {
			return false
		}
	}
	return strings.ContainsAny(fields[0][:1], "0123456789*")
}
