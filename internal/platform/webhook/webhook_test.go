package webhook_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/platform/webhook"
)

func data(t interface{ Fatal(...any) }, d retake.EventData) json.RawMessage {
	b, err := json.Marshal(d)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestBody(t *testing.T) {
	t.Parallel()
	e := retake.Event{
		Seq: 7, ID: "e", Type: retake.EventCreated, Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.FixedZone("", 3600)),
		Data: data(t, retake.EventData{Namespace: "acme", Checkpoint: "c1", Number: 3}),
	}
	want := `{"type":"snapshot.created","timestamp":"2026-01-02T02:04:05.000006Z","data":{"namespace":"acme","checkpoint":"c1","number":3}}`
	if got := string(webhook.Body(e, retake.EventSnapshotCreated)); got != want {
		t.Errorf("body\n%s\nwant\n%s", got, want)
	}
	for _, raw := range []string{"", "{", "no"} {
		e.Data = json.RawMessage(raw)
		if b := webhook.Body(e, e.Type); !json.Valid(b) || !strings.Contains(string(b), `"data":{`) {
			t.Errorf("data %q makes the body %s", raw, b)
		}
	}
}

func TestBodyIsBounded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := func(name string) string {
			return strings.Repeat(rapid.SampledFrom([]string{"a", "<", "é", "\x00", "\"", "\xff"}).Draw(t, name), rapid.SampledFrom([]int{0, 10, 999, 5000, 30000}).Draw(t, name+" size"))
		}
		d := retake.EventData{Namespace: "acme", Checkpoint: "c1", Number: 3, Intent: text("intent"), Why: text("why"), Name: text("name"), Tree: retake.ObjectID(text("tree"))}
		b := webhook.Body(retake.Event{Type: retake.EventCreated, Data: data(t, d)}, retake.EventCreated)
		if len(b) >= 20_000 {
			t.Fatalf("%d bytes", len(b))
		}
		var got struct {
			Type retake.EventType
			Data retake.EventData
		}
		if err := json.Unmarshal(b, &got); err != nil || got.Type != retake.EventCreated {
			t.Fatalf("body %.100s: %v", b, err)
		}
		if got.Data.Namespace != "acme" || got.Data.Checkpoint != "c1" || got.Data.Number != 3 {
			t.Fatalf("the ids are gone: %.100s", b)
		}
		if len(d.Intent) < 1000 && len(d.Why) < 1000 && len(d.Name) < 1000 && d.Tree == "" {
			if diff := cmp.Diff(json.RawMessage(data(t, d)), dataOf(t, b)); diff != "" {
				t.Fatalf("short data was changed: %s", diff)
			}
		}
	})
}

func dataOf(t interface{ Fatal(...any) }, body []byte) json.RawMessage {
	var m struct{ Data json.RawMessage }
	if err := json.Unmarshal(body, &m); err != nil {
		t.Fatal(err)
	}
	return m.Data
}

func TestIdsOutliveTooLongData(t *testing.T) {
	t.Parallel()
	long := retake.NamespaceID(strings.Repeat("n", 30_000))
	b := webhook.Body(retake.Event{Data: data(t, retake.EventData{Namespace: long})}, retake.EventCreated)
	if want := `{"type":"checkpoint.created","timestamp":"0001-01-01T00:00:00Z","data":{}}`; string(b) != want {
		t.Errorf("body %.100s, want %s", b, want)
	}
}

func TestWait(t *testing.T) {
	t.Parallel()
	var total time.Duration
	since := []string{"0s", "5s", "5m5s", "35m5s", "2h35m5s", "7h35m5s", "17h35m5s", "31h35m5s", "51h35m5s", "75h35m5s"}
	var got []string
	for tried := 0; ; tried++ {
		d, ok := webhook.NextDelay(tried, nil)
		if !ok {
			break
		}
		total += d
		got = append(got, total.String())
	}
	if !slices.Equal(got, since) {
		t.Errorf("tries at %v, want %v", got, since)
	}
	for _, tried := range []int{-1, 10, 1 << 40} {
		if d, ok := webhook.NextDelay(tried, nil); ok || d != 0 {
			t.Errorf("after %d tries there is another in %v", tried, d)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		tried := rapid.IntRange(0, 9).Draw(t, "tried")
		r := rapid.Float64Range(-1, 2).Draw(t, "chance")
		d, _ := webhook.NextDelay(tried, func() float64 { return r })
		if least := webhook.Delays[tried]; d < least || d > least+least/5+time.Nanosecond {
			t.Fatalf("try %d waits %v, by the table %v", tried, d, least)
		}
	})
	a, _ := webhook.NextDelay(3, func() float64 { return 0.1 })
	b, _ := webhook.NextDelay(3, func() float64 { return 0.9 })
	if a == b {
		t.Error("chance changes nothing")
	}
}
