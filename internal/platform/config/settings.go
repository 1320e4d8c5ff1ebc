package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx"
)

// Settings is the user's file: keys and values. A key "WORKSPACE-ID.key" overrides key for one
// workspace. A long-lived process sees a change of the file at the next query.
type Settings struct {
	path     string
	mu       sync.Mutex
	values   map[string]string // guarded by mu
	fileInfo fs.FileInfo       // guarded by mu; the file when it was read, nil if there was none
	damage   *retake.Error     // guarded by mu; why the file is not used, nil if it is
	hasCopy  bool              // guarded by mu; the values are those of the copy
}

// settingKeys are all settings. A default of "" for a size means no limit.
var settingKeys = []struct{ key, def, help string }{
	{"agents", "on", "on: save a checkpoint after every agent turn; off: ignore agents' events"},
	{"agents-more", "", "names of other agents, separated by commas; a program retake-agent-NAME of yours translates their events"},
	{"budget", "", "storage limit: the most bytes the store may use before the oldest checkpoints are deleted; default: 10 % of its disk, at most 20GB"},
	{"daemon-cgroup", "leave", "leave: the daemon moves out of the control group it was started in, unless that has limits; stay: it stays in the user's"},
	{"daemon-idle", "4h", "stop the daemon after this long without a request; 0 is never"},
	{"drill", "on", "on: once a day, restore a good checkpoint into a temporary fork and verify it; off: don't"},
	{"exclude", "", "patterns to leave out, as in .gitignore, separated by commas"},
	{"floor", "", "minimum free space on the store's disk, in bytes; default: 5 % of it, at most 10GB"},
	{"gate.delete", "allow", "calls that delete data which no checkpoint has (database servers, clouds, volumes): allow, ask or deny"},
	{"gate.deploy", "allow", "deployments and changes of infrastructure: allow, ask or deny"},
	{"gate.force-push", "allow", "pushes that rewrite or delete history in another repository: allow, ask or deny"},
	{"gate.not-saved", "allow", "risky commands on files outside the project that could not be saved first: allow, ask or deny"},
	{"gate.publish", "allow", "publishing of packages, images and releases: allow, ask or deny"},
	{"gate.repeat", "allow", "an external action that was done before the files were restored, and is done once more: allow, ask or deny"},
	{"gitignore", "false", "true: leave out what git ignores"},
	{"gone-after", "0", "delete every checkpoint after this many calendar days, except pins, the newest, and those that forks need; 0 is never"},
	{"granularity", "turn", "when to save an agent's work: turn, or call for each tool call, too"},
	{"keep-within", "30d", "keep checkpoints for at least this many days of work; auto-checkpoints are thinned to one an hour after a day and one a day after a week; 0 is forever"},
	{"max-new-file", "", "leave out new files larger than this"},
	{"paused", "", "the time since when agents' work is not saved; empty if it is saved"},
	{"protect", "ask", "where an agent works in a project that is not protected: ask (say so once), auto (protect it), or off"},
	{"quiet", "off", "on: save your own edits two seconds after you stop typing; off: save them with the next prompt or save"},
	{"rescue-max", "256MB", "files outside the project that a risky command would destroy are saved first, up to this much; 0 saves none"},
	{"rescue-time", "1500ms", "stop saving such files after this long, at most 1500ms: the agent waits for it"},
	{"tracker", "auto", "how to find changed files: auto, fanotify, inotify, or scan to check every file at each save"},
	{"trust-unseen", "true", "true: assume that processes Retake can't inspect don't write project files through mmap; false: check every file while there are any"},
	{"wait-uploaded", "off", "on: a save by hand waits until a remote has the checkpoint; off: it is uploaded in the background"},
	{"verify-limit", "10m", "stop a check after this long and record that it could not finish"},
}

// Load reads the file. A missing file is empty. If the file holds no settings, because a power cut
// or an editor left half of it, those of its last copy apply, and Damage says so: a workspace must
// not go unprotected for it, nor lose what it excludes or how long it keeps checkpoints. Without a
// copy the defaults apply, and nothing is cleaned up.
func Load(path string) (*Settings, error) {
	s := &Settings{path: path, values: map[string]string{}}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.loadFile()
	if s.damage != nil {
		return s, nil
	}
	return s, err
}

// loadFile reads the file. The caller holds mu.
func (s *Settings) loadFile() error {
	s.damage, s.hasCopy = nil, false
	seen, err := os.Stat(s.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("read settings: %w", err)
	}
	b, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		s.values, s.fileInfo = map[string]string{}, nil
		return nil
	}
	if err != nil {
		return fmt.Errorf("read settings: %w", err)
	}
	values, err := parseValues(b)
	if err != nil {
		s.fileInfo = seen
		s.damage = &retake.Error{Kind: retake.Invalid, What: "the settings in " + s.path + " cannot be read", Hint: "mend or remove the file", Err: err}
		if kept, err := readValues(s.copyPath()); err == nil {
			s.values, s.hasCopy = kept, true
		}
		return s.damage
	}
	s.values, s.fileInfo = values, seen
	return nil
}

// reloadIfChanged reads the file again if it was changed. If it cannot be read now, the old
// values are kept; the command line reads the file first and reports the error. The caller
// holds mu.
func (s *Settings) reloadIfChanged() {
	now, err := os.Stat(s.path)
	if err != nil {
		now = nil
	}
	if now == nil && s.fileInfo == nil || now != nil && s.fileInfo != nil && os.SameFile(now, s.fileInfo) && now.ModTime().Equal(s.fileInfo.ModTime()) && now.Size() == s.fileInfo.Size() {
		return
	}
	_ = s.loadFile() // the old values are kept
}

// List returns every key with its value, including those of single workspaces.
func (s *Settings) List() []retake.Setting {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []retake.Setting
	for _, k := range settingKeys {
		e := retake.Setting{Key: k.key, Value: k.def, Default: k.def, From: "default", Help: k.help}
		if v, ok := s.values[k.key]; ok {
			e.Value, e.From = v, "file"
		}
		out = append(out, e)
		for _, key := range slices.Sorted(maps.Keys(s.values)) {
			if ws, base := splitKey(key); ws != "" && base == k.key {
				out = append(out, retake.Setting{Key: key, Value: s.values[key], Default: e.Value, From: "file", Help: k.help})
			}
		}
	}
	return append(out, s.standingSettings()...)
}

// Value returns the value of one key.
func (s *Settings) Value(key string) (string, error) {
	base, def, err := lookupKey(key)
	if err != nil {
		return "", err
	}
	return s.firstValue(def, key, base), nil
}

// splitKey splits the key of a workspace. ws is empty if the key applies to all.
func splitKey(key string) (ws retake.WorkspaceID, base string) {
	if id, rest, ok := strings.Cut(key, "."); ok {
		if ws, err := retake.ParseWorkspaceID(id); err == nil {
			return ws, rest
		}
	}
	return "", key
}

// lookupKey returns the key without its workspace, and its default.
func lookupKey(key string) (base, def string, err error) {
	_, base = splitKey(key)
	if name, ok := strings.CutPrefix(base, standingPrefix); ok {
		return base, "", checkStandingName(name)
	}
	var names []string
	for _, k := range settingKeys {
		if k.key == base {
			return base, k.def, nil
		}
		names = append(names, k.key)
	}
	names = append(names, standingPrefix+"NAME")
	return "", "", &retake.Error{Kind: retake.NotFound, What: fmt.Sprintf("there is no setting %s", key), Safe: "Nothing was changed.", Hint: "there are: " + strings.Join(names, ", ")}
}

// Set validates a value and changes one key.
func (s *Settings) Set(key, value string) error {
	base, _, err := lookupKey(key)
	if err != nil {
		return err
	}
	if check := checkFor(base); check != nil {
		err = check(value)
	}
	if !utf8.ValidString(key + value) { // JSON would change it
		err = errors.New("settings are text in UTF-8")
	}
	if err != nil {
		return &retake.Error{Kind: retake.Invalid, What: fmt.Sprintf("%q does not fit %s", value, key), Safe: "Nothing was changed.", Hint: err.Error(), Err: err}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloadIfChanged() // another process may have set another key
	return s.saveFile(func(values map[string]string) { values[key] = value })
}

// Unset resets a key to its default.
func (s *Settings) Unset(key string) error {
	if _, _, err := lookupKey(key); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloadIfChanged()
	return s.saveFile(func(values map[string]string) { delete(values, key) })
}

// saveFile changes the values and replaces the file atomically, unless it holds what nobody could
// read. The caller holds mu.
func (s *Settings) saveFile(change func(values map[string]string)) error {
	if s.damage != nil {
		return s.damage
	}
	values := maps.Clone(s.values)
	change(values)
	b, err := json.MarshalIndent(values, "", "  ")
	if err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return fmt.Errorf("write settings: %w", err)
	}
	if err := fsx.ReplaceFile(s.path, append(b, '\n'), s.fileMode()); err != nil {
		return s.writeError(err)
	}
	s.values = values
	s.fileInfo, _ = os.Stat(s.path)                                  // on error the file is read again
	_ = fsx.ReplaceFile(s.copyPath(), append(b, '\n'), s.fileMode()) // the daemon tries again
	return nil
}

// Policy returns what the user excludes from a workspace.
func (s *Settings) Policy(ws retake.WorkspaceID) retake.Policy {
	var p retake.Policy
	p.GitIgnore, _ = strconv.ParseBool(s.workspaceValue(ws, "gitignore")) // Set validates
	p.MaxNewFile, _ = ParseSize(s.workspaceValue(ws, "max-new-file"))     // Set validates
	for _, e := range strings.Split(s.workspaceValue(ws, "exclude"), ",") {
		if e = strings.TrimSpace(e); e != "" {
			p.Exclude = append(p.Exclude, e)
		}
	}
	return p
}

// Protect returns what happens where an agent works in a directory that is not protected: ask, auto
// or off.
func (s *Settings) Protect() string {
	v, _ := s.Value("protect") // the key exists
	return v
}

// MoreAgents returns the agents whose events a program of the user translates.
func (s *Settings) MoreAgents() []string {
	v, _ := s.Value("agents-more") // the key exists
	var out []string
	for _, name := range strings.Split(v, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// Habits returns the user's choices about agents in a workspace.
func (s *Settings) Habits(ws retake.WorkspaceID) retake.Habits {
	return retake.Habits{
		Paused:      s.workspaceValue(ws, "agents") == "off" || s.workspaceValue(ws, "paused") != "",
		Granularity: retake.Granularity(s.workspaceValue(ws, "granularity")),
		Quiet:       s.workspaceValue(ws, quietKey) == "on" && s.workspaceValue(ws, "paused") == "", // independent of agents
		Rescue:      s.rescueLimit(ws),
		Gate:        s.gate(ws),
	}
}

// gatePrefix begins the settings of calls that nothing can take back.
const gatePrefix = "gate."

func (s *Settings) gate(ws retake.WorkspaceID) retake.Gate {
	g := retake.Gate{}
	for _, class := range retake.GateClasses {
		g[class] = retake.GatePolicy(s.workspaceValue(ws, gatePrefix+string(class)))
	}
	return g
}

// LoosensGate reports whether a value of a setting stops less than the one that holds now.
func (s *Settings) LoosensGate(key, value string) bool {
	_, base := splitKey(key)
	if !strings.HasPrefix(base, gatePrefix) {
		return false
	}
	now, err := s.Value(key)
	strength := func(v string) int { return slices.Index(retake.GatePolicies, retake.GatePolicy(v)) }
	return err == nil && strength(value) >= 0 && strength(value) < strength(now)
}

func (s *Settings) rescueLimit(ws retake.WorkspaceID) retake.RescueLimit {
	var l retake.RescueLimit
	l.Bytes, _ = ParseSize(s.workspaceValue(ws, "rescue-max"))       // Set validates
	l.Time, _ = parseRescueTime(s.workspaceValue(ws, "rescue-time")) // the same
	return l
}

// maxRescueTime leaves a hook, which waits two seconds, the time for the checkpoint itself.
const maxRescueTime = 1500 * time.Millisecond

func parseRescueTime(v string) (time.Duration, error) {
	d, err := time.ParseDuration(v)
	if err == nil && (d <= 0 || d > maxRescueTime) {
		err = fmt.Errorf("it is between 1ms and %s", maxRescueTime)
	}
	return d, err
}

// workspaceValue returns the value of a key for a workspace.
func (s *Settings) workspaceValue(ws retake.WorkspaceID, key string) string {
	_, def, _ := lookupKey(key) // the key exists
	return s.firstValue(def, string(ws)+"."+key, key)
}

// firstValue returns the value of the first key that is set, or def.
func (s *Settings) firstValue(def string, keys ...string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloadIfChanged()
	for _, k := range keys {
		if v, ok := s.values[k]; ok {
			return v
		}
	}
	return def
}

const (
	defaultFloor = 10e9
	floorShare   = 20 // 5 % of a small disk
	defaultIdle  = 4 * time.Hour
)

// Floor returns how many bytes must stay free on a disk of that size.
func (s *Settings) Floor(total int64) int64 {
	if v, _ := s.Value("floor"); v != "" { // the key exists
		if n, err := ParseSize(v); err == nil {
			return n
		}
	}
	return min(int64(defaultFloor), total/floorShare)
}

// IdleTimeout returns how long a daemon stays without requests; 0 means forever. It stays if
// it has to save a user's own edits.
func (s *Settings) IdleTimeout() time.Duration {
	if s.hasQuietWorkspace() {
		return 0
	}
	v, _ := s.Value("daemon-idle") // the key exists
	d, err := parseIdle(v)
	if err != nil { // Set validates, but the file may have been edited by hand
		return defaultIdle
	}
	return d
}

const quietKey = "quiet"

// hasQuietWorkspace reports whether edits are saved without a request in some workspace.
func (s *Settings) hasQuietWorkspace() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reloadIfChanged()
	for key, v := range s.values {
		if _, base := splitKey(key); base == quietKey && v == "on" {
			return true
		}
	}
	return false
}

func parseIdle(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = fmt.Errorf("%q is before now", s)
	}
	return d, err
}

// LeavesCgroup reports whether the daemon may leave control groups that are not delegated to
// the user.
func (s *Settings) LeavesCgroup() bool {
	v, _ := s.Value("daemon-cgroup") // the key exists
	return v == "leave"
}

var trackerModes = []string{"auto", string(retake.TrackingFanotify), string(retake.TrackingInotify), string(retake.TrackingScan)}

// Tracker returns how changes are detected, "" for the best that works, and whether processes
// that cannot be inspected are trusted.
func (s *Settings) Tracker() (mode retake.TrackingMode, trust bool) {
	v, _ := s.Value("tracker")      // the key exists
	t, _ := s.Value("trust-unseen") // the key exists
	trust, err := strconv.ParseBool(t)
	if v == "auto" || !slices.Contains(trackerModes, v) { // Set validates, but the file may have been edited by hand
		v = ""
	}
	return retake.TrackingMode(v), trust && err == nil
}

// ParseSize parses 500, 20KB, 10MB, 5GB and 1TB, in powers of 1000.
func ParseSize(s string) (int64, error) {
	if s == "" {
		return 0, nil
	}
	text := strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s)), "B")
	unit := int64(1)
	for i, u := range []string{"K", "M", "G", "T"} {
		if t, ok := strings.CutSuffix(text, u); ok {
			text = t
			for range i + 1 {
				unit *= 1000
			}
			break
		}
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(n >= 0) || n*float64(unit) > 9e18 { // a number, too
		return 0, fmt.Errorf("%q is not a size such as 5GB", s)
	}
	return int64(n * float64(unit)), nil
}
