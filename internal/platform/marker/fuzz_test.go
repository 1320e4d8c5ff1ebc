package marker_test

import (
	"strings"
	"testing"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/fsx/fsxtest"
	"github.com/retake-dev/retake/internal/platform/marker"
)

// A mark decides which history a directory gets. Whatever is found there, Read returns nothing or a
// valid ID, and Remove removes only what we could have written.
func FuzzMark(f *testing.F) {
	f.Add([]byte(""), []byte(id), []byte("*\n"))
	f.Add([]byte(""), []byte(id+"\n"), []byte("*.log\n"))
	f.Add([]byte(id), []byte("../../etc"), []byte(""))
	f.Add([]byte("ws_\x00"), []byte("\u00a0"+id+"\r\n"), []byte("*\n"))
	f.Add([]byte("x"), []byte(strings.Repeat(" ", 200)+string(id)), []byte("*"))
	f.Fuzz(func(t *testing.T, attribute, file, hidden []byte) {
		disk := fsxtest.NewMemory()
		must(t, disk.MkdirAll("/ws/.retake", 0o700))
		must(t, disk.WriteFile("/ws/.retake/id", file, 0o600))
		must(t, disk.WriteFile("/ws/.retake/.gitignore", hidden, 0o600))
		root, err := disk.OpenRoot("/ws")
		must(t, err)
		if len(attribute) > 0 {
			must(t, root.SetXattr(marker.Xattr, attribute))
		}
		text := string(attribute)
		if text == "" {
			text = string(file)
		}
		got, err := marker.Read(root)
		must(t, err)
		if want := strings.TrimSpace(text); got != "" && string(got) != want {
			t.Fatalf("%q is read as %q", text, got)
		}
		if _, err := retake.ParseWorkspaceID(string(got)); got != "" && err != nil {
			t.Fatalf("Read returns %q: %v", got, err)
		}
		must(t, marker.Remove(root))
		if left, err := marker.Read(root); err != nil || left != "" {
			t.Fatalf("after Remove the mark is %q, %v", left, err)
		}
		isOurs := map[string]bool{"id": marker.IsMarkText(string(file)), ".gitignore": string(hidden) == "*\n"}
		for name, was := range map[string][]byte{"id": file, ".gitignore": hidden} {
			now, err := disk.ReadFile("/ws/.retake/" + name)
			if !isOurs[name] && (err != nil || string(now) != string(was)) {
				t.Fatalf("Remove changed %s, which we did not write: %q, %v", name, now, err)
			}
		}
		must(t, marker.Write(root, id))
		if got, err := marker.Read(root); err != nil || got != id {
			t.Fatalf("after Write the mark is %q, %v", got, err)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
