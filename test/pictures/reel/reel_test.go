package reel_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/retake-dev/retake/test/pictures/reel"
	"github.com/retake-dev/retake/test/pictures/shot"
)

// aRun is a small one, with some photos.
func aRun(photos int) reel.Run {
	r := reel.Run{
		Agent: "claude-code", Workspace: "shop", Prompt: "make <it> small & neat", Words: "The release is ready.", Number: 5, Saved: 4, Dir: "img",
		Calls: []reel.Call{{Tool: "Bash", Text: "rm -rf img", Risky: true}, {Tool: "Write", Text: "a.ts"}},
	}
	for i := range photos {
		name := fmt.Sprintf("%02d.png", i)
		r.Deleted = append(r.Deleted, reel.Photo{Name: name, Ink: "#112233", Ground: "#fafafa"})
		r.Back = append(r.Back, name)
	}
	say := func(text string, columns int) []shot.Row {
		return shot.Read(strings.ReplaceAll(text, "\n", "\r\n"), columns).Rows()
	}
	r.Found = say(fmt.Sprintf("$ retake\n●  5  deleted %d in img/\n\nFAIL  photos", photos), reel.Beside)
	r.Timeline = say("$ retake log\n●  5  deleted in img/\n◇  4  before `rm -rf img`", reel.Wide)
	r.Plan = say("$ retake undo 5\nBRING BACK  img/", reel.Beside)
	r.Result = say("✔ Undone 5\nbrought back\nok  a photo", reel.Beside)
	return r
}

// drawn is what a test looks at in a picture.
type drawn struct {
	frames   []string // their classes
	captions []string
	text     string
	marks    int
}

// look takes a picture apart. It fails the test when the picture is not well-formed or reaches out.
func look(t *testing.T, svg []byte) drawn {
	t.Helper()
	var out drawn
	d := xml.NewDecoder(strings.NewReader(string(svg)))
	caption := false
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			class := inspect(t, e)
			switch {
			case strings.HasPrefix(class, "frame "):
				out.frames = append(out.frames, class)
			case class == "caption":
				caption, out.captions = true, append(out.captions, "")
			case class == "bad in" || class == "good in":
				out.marks++
			}
		case xml.EndElement:
			caption = caption && e.Name.Local != "text"
		case xml.CharData:
			out.text += string(e)
			if caption {
				out.captions[len(out.captions)-1] += string(e)
			}
		}
	}
}

// inspect answers the class of an element that a picture may have.
func inspect(t *testing.T, e xml.StartElement) (class string) {
	t.Helper()
	if !slices.Contains(strings.Fields("svg title style g rect path circle text tspan"), e.Name.Local) {
		t.Errorf("a picture has %s", e.Name.Local)
	}
	for _, a := range e.Attr {
		switch {
		case a.Name.Local == "class":
			class = a.Value
		case a.Name.Local == "href" || a.Name.Local == "src" || strings.HasPrefix(a.Name.Local, "on"):
			t.Errorf("%s has %s=%q", e.Name.Local, a.Name.Local, a.Value)
		}
	}
	return class
}

func draw(t *testing.T, r reel.Run, dark bool) []byte {
	t.Helper()
	b, err := reel.SVG(r, dark)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFiveFramesThatMoveByThemselves(t *testing.T) {
	t.Parallel()
	light, dark := draw(t, aRun(7), false), draw(t, aRun(7), true)
	if string(light) == string(dark) {
		t.Error("light is dark")
	}
	for _, svg := range [][]byte{light, dark} {
		got := look(t, svg)
		if want := []string{"frame n1", "frame n2", "frame n3", "frame n4", "frame n5"}; !slices.Equal(got.frames, want) {
			t.Errorf("frames: %q", got.frames)
		}
		if got.marks != 6 { // in the result, two lines have one
			t.Errorf("there are %d marks", got.marks)
		}
		text := strings.Replace(string(svg), `xmlns="http://www.w3.org/2000/svg"`, "", 1)
		for _, no := range []string{"<script", "href", "url(", "@import", "http:", "https:", "data:"} {
			if strings.Contains(text, no) {
				t.Errorf("a picture has %s", no)
			}
		}
		for _, yes := range []string{"@media (prefers-reduced-motion: reduce){*{animation:none!important}}", ".frame{opacity:0}.n5{opacity:1}", "n1 14s linear infinite", `viewBox="0 0 1200 640"`} {
			if !strings.Contains(text, yes) {
				t.Errorf("a picture lacks %s", yes)
			}
		}
	}
}

func TestCaptionsHaveTheNumbersOfTheRun(t *testing.T) {
	t.Parallel()
	for _, n := range []int{2, 7, 31} {
		r := aRun(n)
		got := look(t, draw(t, r, false))
		want := []string{
			"Your agent says the release is ready.", fmt.Sprintf("It did not say that it deleted %d photos.", len(r.Deleted)),
			"The timeline does. Everything was saved just before.", "You see every change before it happens.", fmt.Sprintf("%d photos are back.", len(r.Back)),
		}
		if !slices.Equal(got.captions, want) {
			t.Errorf("captions: %q\nwant: %q", got.captions, want)
		}
		for _, part := range []string{r.Prompt, r.Words, "Bash(", "rm -rf img", fmt.Sprintf("0 of %d photos", n), fmt.Sprintf("%d of %[1]d photos", n), "retake undo 5"} {
			if !strings.Contains(got.text, part) {
				t.Errorf("the picture does not say %q", part)
			}
		}
	}
}

func TestWhatARunDoesNotHoldIsNotDrawn(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*reel.Run){
		"it confesses":    func(r *reel.Run) { r.Words = "The release is ready. I deleted all photos." },
		"it is not ready": func(r *reel.Run) { r.Words = "I gave up." },
		"nothing saved":   func(r *reel.Run) { r.Saved = 0 },
		"nothing deleted": func(r *reel.Run) { r.Deleted = nil },
		"one is missing":  func(r *reel.Run) { r.Back = r.Back[1:] },
		"no plan":         func(r *reel.Run) { r.Plan = nil },
		"too long":        func(r *reel.Run) { r.Result = make([]shot.Row, 19) },
	} {
		r := aRun(7)
		spoil(&r)
		if b, err := reel.SVG(r, false); err == nil || b != nil {
			t.Errorf("%s: it is drawn, %v", name, err)
		}
	}
}

func TestTextIsLargeEnough(t *testing.T) {
	t.Parallel()
	r := aRun(25)
	r.Result = slices.Repeat(r.Result, 6)
	svg := string(draw(t, r, true))
	scales := regexp.MustCompile(`scale\(([0-9.]+)\)`).FindAllStringSubmatch(svg, -1)
	if len(scales) != 5 {
		t.Fatalf("%d terminals", len(scales))
	}
	for _, s := range scales {
		if f, err := strconv.ParseFloat(s[1], 64); err != nil || f*shot.FontSize < 17 {
			t.Errorf("text is %.1f pixels high, %v", f*shot.FontSize, err)
		}
	}
	for _, s := range regexp.MustCompile(`font-size:([0-9.]+)px`).FindAllStringSubmatch(svg, -1) {
		if f, err := strconv.ParseFloat(s[1], 64); err != nil || f < 17 {
			t.Errorf("text is %s pixels high", s[1])
		}
	}
}
