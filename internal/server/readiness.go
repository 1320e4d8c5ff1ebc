package server

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/retake-dev/retake/internal/server/probe"
)

// readinessLimit is how long each part may take to answer. Parts are asked at the same time, so
// that one that hangs is the only one that is named.
const readinessLimit = 5 * time.Second

// prepareReadiness says how the parts that this server depends on are checked.
func (s *Server) prepareReadiness() {
	part := func(check func(context.Context) error) *probe.Probe[struct{}] {
		return probe.New(readinessLimit, 0, func(ctx context.Context) (struct{}, error) { return struct{}{}, check(ctx) })
	}
	s.readiness = map[string]*probe.Probe[struct{}]{
		"database": part(s.checkDatabaseOwner),
		"disk":     part(func(context.Context) error { return s.checkDataDir() }),
	}
	if s.opts.Bucket != nil {
		s.readiness["bucket"] = part(s.checkBucketOwner)
	}
	if s.keyServer != nil {
		s.readiness["key"] = part(s.keyServer.Ready)
	}
}

// checkReadiness checks the parts that this server depends on, by name.
func (s *Server) checkReadiness(ctx context.Context) map[string]error {
	var mu sync.Mutex
	var all sync.WaitGroup
	parts := map[string]error{}
	for name, p := range s.readiness {
		all.Go(func() {
			_, err := p.Read(ctx)
			mu.Lock()
			defer mu.Unlock()
			parts[name] = err
		})
	}
	all.Wait()
	return parts
}

// checkDataDir checks that the data directory can be written to.
func (s *Server) checkDataDir() error {
	b, err := json.Marshal(s.started)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(s.opts.DataDir, "run", fmt.Sprintf("%d.ready", os.Getpid())), b, 0o600); err != nil {
		return fmt.Errorf("write to the data directory: %w", err)
	}
	return nil
}
