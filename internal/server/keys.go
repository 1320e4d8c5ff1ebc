package server

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/retake-dev/retake"
	"github.com/retake-dev/retake/internal/pure/secretbox"
	"github.com/retake-dev/retake/internal/server/transit"
)

// KeyServer is where the key-encryption key is kept, if it is not with us.
type KeyServer struct {
	URL       string // of a transit key
	TokenFile string
	CAFile    string // "": the certificates of the system
	OnlyOpens bool   // it sealed before; now the first key of Options.EncryptionKeys seals
}

// openKeeper sets what seals secrets: the key server, else the given keys, else a key file, which
// is created. A key server that cannot be reached is asked again by whoever needs it; one that
// refuses is a mistake of the configuration, which is better found at the start.
func (s *Server) openKeeper(ctx context.Context) error {
	at, keys := s.opts.KeyServer, s.opts.EncryptionKeys
	if len(keys) == 0 && (at == nil || at.OnlyOpens) {
		text, err := s.readOrCreateSecret("kek", func() string { return secretbox.FormatKey(secretbox.NewKey()) })
		if err != nil {
			return err
		}
		key, err := secretbox.ParseKey(text)
		if err != nil {
			return fmt.Errorf("read the key-encryption key: %w", err)
		}
		keys = [][]byte{key}
	}
	if at != nil {
		k, err := transit.New(transit.Options{
			URL: at.URL, TokenFile: at.TokenFile, CAFile: at.CAFile, File: filepath.Join(s.opts.DataDir, "kek.sealed"),
			Local: keys, OnlyOpens: at.OnlyOpens, Clock: s.opts.Clock, Log: s.opts.Log,
		})
		if err != nil {
			return err
		}
		s.sealer, s.keyServer = k, k
		err = k.Load(ctx)
		if retake.IsKind(err, retake.Away) {
			s.opts.Log.Error("start without the key-encryption key; requests that need it are refused until the key server gives it", "err", err)
			return nil
		}
		return err
	}
	local, err := secretbox.NewLocalKeeper(keys...)
	if err != nil {
		return fmt.Errorf("use the key-encryption key: %w", err)
	}
	s.sealer = local
	return nil
}
