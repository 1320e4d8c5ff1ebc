package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
)

// request is one question that an agent asked the model.
type request struct {
	Path  string          `json:"path"`
	Talk  []said          `json:"talk"`
	Tools []string        `json:"tools,omitempty"`
	Job   int             `json:"job"` // of the script; -1: none of them
	Body  json.RawMessage `json:"-"`
}

// dialect is how one kind of model is asked, and how it answers.
type dialect struct {
	read  func(body []byte) (talk []said, tools []string, stream bool)
	write func(w *wire, s step)
}

// model is a server on loopback that speaks four dialects and thinks in none.
type model struct {
	script script
	listen net.Listener
	server *http.Server
	hung   chan struct{} // closed when an answer is held back
	once   sync.Once
	done   chan struct{}

	mu    sync.Mutex
	heard []request
}

func serve(s script, address string) (*model, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listen for agents: %w", err)
	}
	m := &model{script: s, listen: l, hung: make(chan struct{}), done: make(chan struct{})}
	m.server = &http.Server{Handler: http.HandlerFunc(m.answer), ReadHeaderTimeout: patience}
	go func() { _ = m.server.Serve(l) }()
	return m, nil
}

func (m *model) url() string { return "http://" + m.listen.Addr().String() }

func (m *model) close() {
	close(m.done)
	_ = m.server.Close()
}

// requests answers what was asked so far about the script, oldest first.
func (m *model) requests() []request {
	m.mu.Lock()
	defer m.mu.Unlock()
	var own []request
	for _, r := range m.heard {
		if r.Job >= 0 {
			own = append(own, r)
		}
	}
	return own
}

func (m *model) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	d, ok := dialectOf(r.URL.Path)
	if !ok {
		m.note(request{Path: r.URL.Path, Job: -1, Body: body})
		other(w, r.URL.Path)
		return
	}
	talk, tools, stream := d.read(body)
	s, at := m.script.next(talk)
	m.note(request{Path: r.URL.Path, Talk: talk, Tools: tools, Job: at, Body: body})
	if s.Hang {
		m.once.Do(func() { close(m.hung) })
		select {
		case <-r.Context().Done():
		case <-m.done:
		}
		return
	}
	d.write(&wire{to: w, stream: stream || strings.Contains(r.URL.Path, ":stream")}, s)
}

func (m *model) note(r request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.heard = append(m.heard, r)
}

func dialectOf(path string) (dialect, bool) {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return anthropic, true
	case strings.HasSuffix(path, "/responses"):
		return responses, true
	case strings.HasSuffix(path, "/chat/completions"):
		return completions, true
	case strings.HasSuffix(path, ":generateContent"), strings.HasSuffix(path, ":streamGenerateContent"):
		return gemini, true
	}
	return dialect{}, false
}

// other answers what agents ask beside the conversation.
func other(w http.ResponseWriter, path string) {
	switch {
	case strings.HasSuffix(path, "/count_tokens"):
		writeJSON(w, map[string]any{"input_tokens": 10})
	case strings.HasSuffix(path, ":countTokens"):
		writeJSON(w, map[string]any{"totalTokens": 10})
	case strings.HasSuffix(path, "/models"):
		writeJSON(w, map[string]any{"object": "list", "data": []any{}, "models": []any{}})
	default:
		http.Error(w, "{}", http.StatusNotFound)
	}
}

func writeJSON(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v)
}

// wire is the way back to an agent.
type wire struct {
	to     http.ResponseWriter
	stream bool
}

// event sends one server-sent event; without a name only its data.
func (w *wire) event(name string, data any) {
	w.to.Header().Set("Content-Type", "text/event-stream")
	if name != "" {
		fmt.Fprintf(w.to, "event: %s\n", name)
	}
	text, err := json.Marshal(data)
	if err != nil {
		return // the data are maps of our own
	}
	fmt.Fprintf(w.to, "data: %s\n\n", text)
	if f, ok := w.to.(http.Flusher); ok {
		f.Flush()
	}
}
