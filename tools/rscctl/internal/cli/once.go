package cli

import (
	"crypto/rand"

	"github.com/spf13/cobra"

	"github.com/redis-stream-coordinator/rsc/libs/client"
)

// checkKey refuses a key for changes that no gateway takes.
func (s *session) checkKey(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("idempotency-key") {
		return nil
	}
	if _, err := s.admin.Once(s.key); err != nil {
		return usage("--idempotency-key has 1 to 128 printable ASCII characters")
	}
	return nil
}

// once returns the administration for the change of this run. A gateway carries it out once
// under the key that was given, or else under a new one (wire contract, Idempotency-Key).
func (s *session) once() *client.Admin {
	if s.key == "" {
		s.key = newKey()
	}
	return s.under(s.key)
}

// onceEach returns the administration for one change of several, under a key of its own.
func (s *session) onceEach() *client.Admin { return s.under(newKey()) }

func newKey() string { return "rscctl-" + rand.Text() }

func (s *session) under(key string) *client.Admin {
	keyed, err := s.admin.Once(key)
	if err != nil { // a key that was given was checked before
		return s.admin
	}
	return keyed
}
