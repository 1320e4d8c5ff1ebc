package tui_test

import (
	"bytes"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/termtext"
	"github.com/retake-dev/retake/internal/ui/tui"
)

// evil holds what a terminal would obey or hide: sequences, a clipboard, a link, controls
// of both kinds, text that turns, ends of lines, bytes that are no text.
const evil = "\x1b[5m\x1b]52;c;ZXZpbA==\x07\x1b]8;;http://evil.test\x1b\\x\x1b]8;;\x1b\\\x1bPq\x1b\\\x1b_g\x1b\\\x1bc\u009b2J\x9b31m\u202e\u2066\u200b\U000e0041\r\n\t\b\x7f\x00\xff日本e\u0301\u0301"

// spoil puts evil at the end of every string of a value. Words of closed sets and ids are
// spoiled only when all is asked for.
func spoil(v reflect.Value, all bool) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && v.Len() > 0 && (all || v.Type() == reflect.TypeFor[string]()) {
			v.SetString(v.String() + evil)
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			spoil(v.Elem(), all)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			spoil(v.Index(i), all)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				spoil(v.Field(i), all)
			}
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			key, value := reflect.New(k.Type()).Elem(), reflect.New(v.Type().Elem()).Elem()
			key.Set(k)
			value.Set(v.MapIndex(k))
			v.SetMapIndex(k, reflect.Value{})
			spoil(key, all)
			spoil(value, all)
			v.SetMapIndex(key, value)
		}
	default:
	}
}

func hostileStage(t *testing.T, all bool) *stage {
	s := newStage(t)
	s.view.Pins = []retake.Pin{{Name: "v1", Checkpoint: "cp_13", Number: 13}}
	s.view.Checkpoints[0].Turn.Failed, s.view.Checkpoints[0].Turn.Contested = "cut", []string{"codex"}
	s.view.Checkpoints[0].Coverage = retake.Cover([]retake.Gap{{Path: "a", Reason: retake.ReasonTorn}})
	s.res.Failed = []retake.Failure{{Path: "a", Why: "moved"}}
	s.res.Warnings = []retake.Warning{{Text: "late"}}
	s.plan.Merges = []retake.Step{{Path: "m", What: retake.Edited, Now: &retake.Entry{Kind: retake.KindFile}, Then: &retake.Entry{Kind: retake.KindFile}, Merge: &retake.Merge{Theirs: 1, Yours: 2, First: 3}}}
	s.plan.Keeps = append(s.plan.Keeps, retake.Keep{Path: "b", Why: retake.KeepConflict, Side: "b.theirs"})
	s.diff.Gaps = []retake.Gap{{Path: "g", Reason: retake.ReasonUnreadable}}
	s.texts["a1"], s.texts["a2"] = "one"+evil+"\ntwo\n", "one\ntwo"+evil+"\n"
	s.talk = `{"type":"user","message":{"role":"user","content":` + fmt.Sprintf("%q", "say \x1b[5m\u202e") + `}}` + "\n"
	for _, v := range []any{&s.view, &s.card, &s.plan, &s.diff, &s.hits, &s.res} {
		spoil(reflect.ValueOf(v), all)
	}
	return s
}

// ours are the colors that we paint with.
var ours = []string{"0", "1", "2", "4", "7", "31", "32", "33", "35", "36", "31;1", "32;1", "33;1"}

// foul finds what must not stand in a screen: everything that is not a color of ours, the
// end of a line, or to be read.
func foul(content string) []string {
	var out []string
	for content != "" {
		if rest, ok := strings.CutPrefix(content, "\x1b["); ok {
			code, behind, ended := strings.Cut(rest, "m")
			if ended && slices.Contains(ours, code) {
				content = behind
				continue
			}
		}
		r, size := utf8.DecodeRuneInString(content)
		one := content[:size]
		if r != '\n' && r != '\\' && termtext.Escape(one) != one {
			out = append(out, fmt.Sprintf("%q", content[:min(len(content), 12)]))
		}
		content = content[size:]
	}
	return out
}

// hostileKeys lead over every screen, and over each way in which one can look.
var hostileKeys = func() map[string][]string {
	out := map[string][]string{
		"compare": {"c", "G", "c"}, "with now": {"D"}, "plan diff": {"r", "d"}, "left behind": {"h", "G", "k", "k", "k", "k", "k"}, "search": {"d", "/", "x", "enter"},
		"tabs": {"enter", "tab", "tab", "tab"}, "right": {"d", "right", "right", "G"},
	}
	for name, keys := range screens {
		out[name] = keys
	}
	return out
}()

// No byte of foreign text that a terminal would obey is in any screen.
func TestHostileTextInEveryScreen(t *testing.T) {
	t.Parallel()
	for name, keys := range hostileKeys {
		for _, all := range []bool{false, true} {
			for _, width := range []int{60, 80, 200} {
				t.Run(fmt.Sprintf("%s.%v.%d", name, all, width), func(t *testing.T) {
					t.Parallel()
					s := hostileStage(t, all)
					o := s.options()
					o.Color = true
					o.ProposeForkDir = func() string { return "/home/" + evil }
					d := tui.NewDesk(t.Context(), o, width, 40)
					d.Settle()
					clean(t, d)
					for _, k := range keys {
						d.Press(k)
						clean(t, d)
					}
					if !all && !strings.Contains(d.Screen(), `\x1b`) && !strings.Contains(d.Screen(), "…") && name != "keys" {
						t.Errorf("nothing of it is on the screen, so this shows nothing:\n%s", d.Screen())
					}
					d.Paste(evil)
					clean(t, d)
				})
			}
		}
	}
}

func clean(t *testing.T, d *tui.Desk) {
	t.Helper()
	if bad := foul(d.Raw()); bad != nil {
		t.Fatalf("%v on the screen:\n%s", bad, d.Screen())
	}
}

// Errors are foreign too: a server may say anything.
func TestHostileErrors(t *testing.T) {
	t.Parallel()
	bad := &retake.Error{Kind: retake.Damaged, What: "a" + evil, Safe: "b" + evil, Hint: "c: " + evil, Err: fmt.Errorf("d%s", evil)}
	for call, keys := range map[string][]string{"ViewTimeline": {}, "PlanRestore": {"r"}, "Story": {"enter"}, "Search": {"/", "x", "enter"}, "Fork": {"f", "enter"}, "Bytes": {"d"}} {
		s := newStage(t)
		s.fail[call] = bad
		d := s.desk(80, 24)
		d.Press(keys...)
		clean(t, d)
		has(t, d, `\x1b[5m`)
	}
	s := newStage(t)
	s.fail["ApplyRestore"] = bad
	d := s.desk(80, 24)
	d.Press("r", "enter", "y", "enter", "y", "enter", "y", "enter", "y", "enter")
	clean(t, d)
	has(t, d, `\x1b[5m`)
}

// The check finds what it is there for.
func TestFoulIsFound(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"\x1b[5m", "\x1b[38;5;1m", "\x1b]52;c;eA==\x07", "\x1b]8;;x\x1b\\", "\x1bc", "\u009b2J", "\x9b", "\u202e", "\r", "\t", "\x00", "\xff", "\x1b[2J", "\x1b["} {
		if foul("plain "+text) == nil {
			t.Errorf("%q is taken for clean", text)
		}
		if bad := foul("\x1b[1m" + termtext.Escape(text) + "\x1b[0m\nplain \\ 日本"); bad != nil {
			t.Errorf("%q, escaped, is taken for foul: %v", text, bad)
		}
	}
}

// tape is what a terminal hears.
type tape struct {
	mu   sync.Mutex
	b    bytes.Buffer
	more chan struct{} // closed and made again when something is heard
}

func newTape() *tape { return &tape{more: make(chan struct{})} }

func (p *tape) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.more)
	p.more = make(chan struct{})
	return p.b.Write(b)
}

func (p *tape) String() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.b.String()
}

// wait waits until text was written.
func (p *tape) wait(t *testing.T, text string) {
	t.Helper()
	for {
		p.mu.Lock()
		there, more := bytes.Contains(p.b.Bytes(), []byte(text)), p.more
		p.mu.Unlock()
		if there {
			return
		}
		select {
		case <-more:
		case <-time.After(time.Minute):
			t.Fatalf("%q was never written: %q", text, p.String())
		}
	}
}

// sequences are those that the program itself writes: moving, clearing, the other screen,
// the cursor, modes and questions about the terminal, and colors of ours as the program
// writes them.
var sequences = regexp.MustCompile(`^\x1bM|^\x1b\[(` +
	`[0-9;]*[ABCDHJKXGdLMPST@abefgr` + "`" + `]` + // where, and what is cleared
	`|\?(25|1049|2004|2026|2027|1000|1002|1003|1004|1006)(;[0-9]+)*[hl]` +
	`|\?[0-9]+\$p` + // is there such a mode
	`|[>=<]?[0-9;]*u|\?u|[>][0-9;]*[mq]|[0-9]* q|[0-9]*c|[>]c` + // the keyboard, the cursor, the name
	`|((0|1|2|4|7|22|24|27|3[1-79]|39|49)(;(1|2|4|7|22|24|27|3[1-79]|39|49))*)?m` +
	`)`)

// obeyed finds what a terminal would obey and the program itself never writes.
func obeyed(out string) []string {
	var bad []string
	for out != "" {
		if m := sequences.FindString(out); m != "" {
			out = out[len(m):]
			continue
		}
		r, size := utf8.DecodeRuneInString(out)
		one := out[:size]
		if !strings.ContainsRune("\r\n\b\t\\", r) && termtext.Escape(one) != one {
			bad = append(bad, fmt.Sprintf("%q", out[:min(len(out), 16)]))
		}
		out = out[size:]
	}
	return bad
}

// The real program, on a pipe, writes nothing of foreign text that a terminal obeys.
func TestHostileTextOnATerminal(t *testing.T) {
	t.Parallel()
	s := hostileStage(t, false)
	keys, typed := io.Pipe()
	out := newTape()
	ended := make(chan error, 1)
	go func() { ended <- tui.RunOn(t.Context(), s.options(), keys, out, 100, 30) }()
	press := func(k string) {
		t.Helper()
		if _, err := io.WriteString(typed, k); err != nil {
			t.Fatal(err)
		}
	}
	out.wait(t, "30 days")
	press("\r")
	s.wait("Story", 1)
	press("2")
	s.wait("Diff  cp_22", 1)
	press("3")
	s.wait("Conversation", 1)
	press("r")
	out.wait(t, "3f9a")
	press("\x03")
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if bad := obeyed(out.String()); bad != nil {
		t.Fatalf("a terminal would obey %v", bad)
	}
	if !strings.Contains(out.String(), `\x1b[5m`) {
		t.Fatal("nothing hostile was shown, so this shows nothing")
	}
}

// The same check catches text that nobody escaped.
func TestNakedTextIsCaught(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"\x1b[5mx", "\x1b[38;5;9mx", "\x1b]8;;http://evil.test\x1b\\x\x1b]8;;\x1b\\"} { // the others the program drops
		keys, typed := io.Pipe()
		out := newTape()
		ended := make(chan error, 1)
		go func() { ended <- tui.RunNaked(t.Context(), text+"\nthe end", keys, out) }()
		out.wait(t, "end")
		if _, err := io.WriteString(typed, "q"); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		if obeyed(out.String()) == nil {
			t.Errorf("%q was not caught in %q", text, out.String())
		}
	}
}
