package proc

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// The helper runs what it is sent. Arguments and variables are bytes, and each must arrive as it
// was: a changed one would run another command.
func FuzzHelperRequest(f *testing.F) {
	f.Add("go\x1ftest", "A=\xff\x1fB=", "/w\xff", "/m", true)
	f.Add("", "", "", "", false)
	f.Fuzz(func(t *testing.T, args, env, dir, mount string, drop bool) {
		split := func(s string) []string {
			var out []string
			for _, b := range bytes.Split([]byte(s), []byte{0x1f}) {
				out = append(out, string(b))
			}
			return out
		}
		in := helperRequest{Args: split(args), Env: split(env), Dir: dir, MountPath: mount, Cwd: dir, DropCapabilities: drop}
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		var out helperRequest
		if err := json.Unmarshal(b, &out); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(in.Args, out.Args) || !slices.Equal(in.Env, out.Env) || in.Dir != out.Dir || in.MountPath != out.MountPath || in.Cwd != out.Cwd || in.DropCapabilities != out.DropCapabilities {
			t.Fatalf("%+v arrived as %+v", in, out)
		}
	})
}

// A request that was cut is an error, and never a command with fewer arguments.
func FuzzHelperRequestIsCut(f *testing.F) {
	f.Add([]byte(`{"Args":["Z28="],"Env":[],"Dir":"Lw==","DropCapabilities":true}`), 7)
	f.Add([]byte(`{"Args":null}`), 100)
	f.Fuzz(func(t *testing.T, text []byte, at int) {
		var whole, cut helperRequest
		if json.Unmarshal(text, &whole) != nil {
			return
		}
		short := bytes.TrimSpace(text)
		short = short[:min(max(at, 0), len(short))]
		if err := json.Unmarshal(short, &cut); err == nil && !bytes.Equal(short, bytes.TrimSpace(text)) {
			t.Fatalf("%q is accepted as %+v", short, cut)
		}
	})
}
